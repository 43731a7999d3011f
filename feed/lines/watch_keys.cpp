// path: cold
#include "feed/lines/watch_keys.h"

#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace pinstrike::feed {

namespace {

constexpr std::string_view hours_pattern =
    "^([01][0-9]|2[0-3]):[0-5][0-9]-([01][0-9]|2[0-3]):[0-5][0-9]$";
constexpr std::string_view date_pattern = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$";

/// Two decimal digits below `limit`.
std::optional<unsigned> two_digits(std::string_view text, unsigned limit) {
    const auto number = text.size() == 2 ? parse_integer(text) : std::nullopt;
    if (!number || *number < 0 || *number >= limit) {
        return std::nullopt;
    }
    return static_cast<unsigned>(*number);
}

/// Reads "19:45".
std::optional<std::chrono::minutes> parse_time(std::string_view text) {
    if (text.size() != 5 || text[2] != ':') {
        return std::nullopt;
    }
    const auto hour = two_digits(text.substr(0, 2), 24);
    const auto minute = two_digits(text.substr(3), 60);
    if (!hour || !minute) {
        return std::nullopt;
    }
    return std::chrono::minutes{*hour * 60 + *minute};
}

std::string time_text(std::chrono::minutes time) {
    return fmt::format("{:02}:{:02}", time.count() / 60, time.count() % 60);
}

Form<DailyHours> hours_form() {
    Node schema = schema_type("string");
    schema.add("pattern", Node::quote(std::string{hours_pattern}));
    return scalar_form<DailyHours>(
        "hours such as 19:45-11:35", std::move(schema),
        [](const std::string& text) -> std::optional<DailyHours> {
            const std::size_t dash = text.find('-');
            if (dash == std::string::npos) {
                return std::nullopt;
            }
            const auto open = parse_time(std::string_view{text}.substr(0, dash));
            const auto close = parse_time(std::string_view{text}.substr(dash + 1));
            if (!open || !close || *open == *close) {
                return std::nullopt;
            }
            return DailyHours{*open, *close};
        },
        [](const DailyHours& hours) {
            return Node::quote(time_text(hours.open) + "-" + time_text(hours.close));
        });
}

std::optional<std::chrono::year_month_day> parse_date(const std::string& text) {
    if (text.size() != 10 || text[4] != '-' || text[7] != '-') {
        return std::nullopt;
    }
    const auto year = parse_integer(std::string_view{text}.substr(0, 4));
    const auto month = two_digits(std::string_view{text}.substr(5, 2), 13);
    const auto day = two_digits(std::string_view{text}.substr(8), 32);
    if (!year || *year < 1970 || !month || !day) {
        return std::nullopt;
    }
    const std::chrono::year_month_day date{std::chrono::year{static_cast<int>(*year)},
                                           std::chrono::month{*month}, std::chrono::day{*day}};
    return date.ok() ? std::optional{date} : std::nullopt;
}

Form<std::chrono::year_month_day> date_form() {
    Node schema = schema_type("string");
    schema.add("pattern", Node::quote(std::string{date_pattern}));
    return scalar_form<std::chrono::year_month_day>(
        "a date such as 2026-11-26", std::move(schema), parse_date,
        [](const std::chrono::year_month_day& date) {
            return Node::quote(fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                                           static_cast<unsigned>(date.month()),
                                           static_cast<unsigned>(date.day())));
        });
}

Section<DayHours> day_section() {
    Section<DayHours> section{"a day"};
    section.key("date", &DayHours::date, date_form(), "The trade date.")
        .required()
        .key("regular", &DayHours::regular, or_word("usual", DailyHours{}, hours_form()),
             "Hours of its regular session, if they differ.")
        .key("gth", &DayHours::gth, or_word("usual", DailyHours{}, hours_form()),
             "Hours of its GTH session, if they differ: from the evening before.");
    return section;
}

}  // namespace

Section<SilenceConfig> silence_section() {
    Section<SilenceConfig> section{"silence"};
    section
        .key("stream_silent_after", &SilenceConfig::silent_after_ns,
             duration_ns(1'000'000, 3'600'000'000'000),
             "A stream without a packet for this time, in session hours, is silent. Line integrity "
             "is sent at least every 10 s.")
        .reloads()
        .key("stream_down_after", &SilenceConfig::down_after_ns,
             duration_ns(1'000'000, 3'600'000'000'000),
             "A stream without a packet for this time is down.")
        .reloads();
    return section;
}

Section<CalendarConfig> calendar_section() {
    Section<CalendarConfig> section{"a calendar"};
    section
        .key("hours", &CalendarConfig::in_use,
             choice<bool>({{"any", false, "data is expected at any time"},
                           {"session", true,
                            "data is expected in session hours; starts of day outside them, and "
                            "the data that follows, are tests and are passed to no core"}}),
             "When data is expected.")
        .key("regular", &CalendarConfig::regular, hours_form(),
             "Hours of the regular session on trading days, New York time.")
        .key("gth", &CalendarConfig::gth, hours_form(),
             "Hours of the GTH session: from the evening before a trade date, New York time.")
        .key("holidays", &CalendarConfig::holidays, list_of(date_form(), "a list of dates"),
             "Days without a regular session.")
        .key("gth_holidays", &CalendarConfig::gth_holidays, list_of(date_form(), "a list of dates"),
             "Trade dates without a GTH session, which would begin in the evening before.")
        .key("days", &CalendarConfig::days, list_of(section_form(day_section()), "a list of days"),
             "Days with other hours, such as those that end early.");
    return section;
}

}  // namespace pinstrike::feed
