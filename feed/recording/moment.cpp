// path: cold
#include "feed/recording/moment.h"

#include "config/units.h"

#include <date/tz.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>

namespace pinstrike::feed {

namespace {

using std::chrono::nanoseconds;
using LocalTime = date::local_time<nanoseconds>;

constexpr const char* exchange_zone = "America/New_York";

/// Days since 1970 of a text like 2026-11-25.
std::optional<std::int64_t> read_date(const std::string& text) {
    int year = 0;
    unsigned month = 0;
    unsigned day = 0;
    if (text.size() != 10 || std::sscanf(text.c_str(), "%4d-%2u-%2u", &year, &month, &day) != 3) {
        return std::nullopt;
    }
    const date::year_month_day date{date::year{year}, date::month{month}, date::day{day}};
    return date.ok()
               ? std::optional{std::int64_t{date::local_days{date}.time_since_epoch().count()}}
               : std::nullopt;
}

/// Nanoseconds since midnight of a text like 14:30 or 14:30:05.25.
std::optional<std::int64_t> read_time(const std::string& text) {
    constexpr std::size_t minutes_characters = 5;
    unsigned hours = 0;
    unsigned minutes = 0;
    int taken = 0;
    if (std::sscanf(text.c_str(), "%2u:%2u%n", &hours, &minutes, &taken) != 2 ||
        taken != minutes_characters || hours >= 24 || minutes >= 60) {
        return std::nullopt;
    }
    double seconds = 0;
    if (text.size() > minutes_characters) {
        const auto number = parse_number(text.substr(minutes_characters + 1));
        if (text[minutes_characters] != ':' || !number || *number < 0 || *number >= 60) {
            return std::nullopt;
        }
        seconds = *number;
    }
    return (std::int64_t{hours} * 60 + minutes) * 60'000'000'000 + std::llround(seconds * 1e9);
}

date::local_days day_of(std::int64_t ns, bool utc) {
    const date::sys_time<nanoseconds> time{nanoseconds{ns}};
    const LocalTime local =
        utc ? LocalTime{time.time_since_epoch()} : date::locate_zone(exchange_zone)->to_local(time);
    return date::floor<date::days>(local);
}

/// From the start of a trade date to midnight UTC.
constexpr std::chrono::minutes before_midnight{40};

}  // namespace

std::optional<Moment> parse_moment(std::string_view text) {
    if (text.find_first_not_of("0123456789-:.TZ") != std::string_view::npos) {
        return std::nullopt;
    }
    Moment moment;
    moment.utc = text.ends_with('Z');
    text.remove_suffix(moment.utc ? 1 : 0);
    if (const std::size_t end = text.find('T'); end != std::string_view::npos) {
        moment.date_days = read_date(std::string{text.substr(0, end)});
        if (!moment.date_days) {
            return std::nullopt;
        }
        text.remove_prefix(end + 1);
    }
    const auto time_ns = read_time(std::string{text});
    if (!time_ns) {
        return std::nullopt;
    }
    moment.time_ns = *time_ns;
    return moment;
}

std::optional<std::int64_t> ns_of(const Moment& moment, std::int64_t first_ns,
                                  std::int64_t last_ns) {
    date::local_days day{date::days{moment.date_days.value_or(0)}};
    if (!moment.date_days) {
        day = day_of(first_ns, moment.utc);
        if (day != day_of(last_ns, moment.utc)) {
            return std::nullopt;
        }
    }
    const LocalTime local = day + nanoseconds{moment.time_ns};
    if (moment.utc) {
        return local.time_since_epoch().count();
    }
    // Of an hour that the clocks repeat or skip, the earlier time.
    return date::locate_zone(exchange_zone)
        ->to_sys(local, date::choose::earliest)
        .time_since_epoch()
        .count();
}

std::uint32_t trade_date_of(std::int64_t wall_ns) {
    using namespace std::chrono;
    const sys_time<nanoseconds> time{nanoseconds{wall_ns}};
    const year_month_day day{floor<days>(time + before_midnight)};
    return static_cast<std::uint32_t>(static_cast<int>(day.year())) * 10000 +
           static_cast<unsigned>(day.month()) * 100 + static_cast<unsigned>(day.day());
}

std::int64_t trade_date_begin_ns(std::int64_t wall_ns) {
    using namespace std::chrono;
    const sys_time<nanoseconds> time{nanoseconds{wall_ns}};
    const sys_time<nanoseconds> begin = floor<days>(time + before_midnight) - before_midnight;
    return begin.time_since_epoch().count();
}

}  // namespace pinstrike::feed
