// path: cold
#include "feed/opra/series_mapping.h"

#include "feed/opra/lines.h"
#include "feed/opra/test_symbols.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

namespace pinstrike::feed::opra {

namespace {

constexpr std::size_t fields_count = 6;
constexpr std::string_view heading = "symbol";
constexpr std::string_view name_pattern = "OPRASymbolMapping_########_######.csv";

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) {
        return {};
    }
    return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// The fields of one row, and how many there were in all.
std::array<std::string_view, fields_count> split(std::string_view row, std::size_t& count) {
    std::array<std::string_view, fields_count> fields{};
    for (count = 0;; ++count) {
        const std::size_t comma = row.find(',');
        if (count < fields_count) {
            fields[count] = trimmed(row.substr(0, comma));
        }
        if (comma == std::string_view::npos) {
            ++count;
            return fields;
        }
        row.remove_prefix(comma + 1);
    }
}

template <class Integer>
std::optional<Integer> integer_of(std::string_view text) {
    Integer value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc{} && end == text.data() + text.size();
    return whole ? std::optional{value} : std::nullopt;
}

std::optional<std::uint64_t> symbol_of(std::string_view text) {
    const auto alphanumeric = [](char c) {
        return is_digit(c) || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    };
    if (text.empty() || text.size() > SeriesKey::symbol_bytes ||
        !std::ranges::all_of(text, alphanumeric)) {
        return std::nullopt;
    }
    return symbol_word_of(text);
}

/// The three bytes of an expiration block as they stand in SeriesKey::name.
std::optional<std::uint64_t> expiration_of(std::string_view text) {
    if (text.size() != 5 || text[0] < 'A' || text[0] > 'X' ||
        !std::ranges::all_of(text.substr(1), is_digit)) {
        return std::nullopt;
    }
    const auto day = integer_of<unsigned>(text.substr(1, 2));
    const auto year = integer_of<unsigned>(text.substr(3, 2));
    if (!day || !year || *day < 1 || *day > 31) {
        return std::nullopt;
    }
    return std::uint64_t{static_cast<std::uint8_t>(text[0])} << 40 | std::uint64_t{*day} << 48 |
           std::uint64_t{*year} << 56;
}

/// "123.45" in units of 1e-8; at most eight digits on either side of the point.
std::optional<std::int64_t> strike_e8_of(std::string_view text) {
    const std::size_t point = text.find('.');
    const std::string_view whole = text.substr(0, point);
    const std::string_view part =
        point == std::string_view::npos ? std::string_view{} : text.substr(point + 1);
    constexpr std::size_t digits_max = 8;
    if (whole.empty() || whole.size() > digits_max || part.size() > digits_max ||
        !std::ranges::all_of(whole, is_digit) || !std::ranges::all_of(part, is_digit)) {
        return std::nullopt;
    }
    std::string digits{whole};
    digits += part;
    digits.append(digits_max - part.size(), '0');
    return integer_of<std::int64_t>(digits);
}

/// A row's series, or what is wrong with the row.
std::string parse_row(std::string_view row, MappedSeries& out) {
    std::size_t count = 0;
    const auto fields = split(row, count);
    if (count != fields_count) {
        return fmt::format("{} fields where {} are expected", count, fields_count);
    }
    const auto symbol = symbol_of(fields[0]);
    if (!symbol) {
        return fmt::format("symbol '{}' is not 1 to 5 letters and digits", fields[0]);
    }
    const auto expiration = expiration_of(fields[1]);
    if (!expiration) {
        return fmt::format(
            "expiration '{}' is not a letter A to X, a day 01 to 31 and a year of two digits",
            fields[1]);
    }
    const auto strike = strike_e8_of(fields[3]);
    if (!strike) {
        return fmt::format("strike '{}' is no decimal number of at most 8 digits on either side",
                           fields[3]);
    }
    const auto line = integer_of<std::uint16_t>(fields[4]);
    if (!line || !is_published_line(*line)) {
        return fmt::format("line '{}' is not one that is published", fields[4]);
    }
    out = {.series = {.name = *symbol | *expiration, .strike_e8 = *strike}, .line = *line};
    return {};
}

bool is_heading(std::string_view row) {
    const auto same = [](char a, char b) { return (a | 0x20) == b; };
    return row.size() >= heading.size() && std::equal(heading.begin(), heading.end(), row.begin(),
                                                      [&](char b, char a) { return same(a, b); });
}

bool is_mapping_name(std::string_view name) {
    return std::equal(
        name.begin(), name.end(), name_pattern.begin(), name_pattern.end(),
        [](char c, char wanted) { return wanted == '#' ? is_digit(c) : c == wanted; });
}

}  // namespace

std::vector<MappedSeries> parse_series_mapping(std::string_view text, const std::string& file,
                                               Problems& problems) {
    std::vector<MappedSeries> all;
    for (unsigned number = 1; !text.empty(); ++number) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view row = trimmed(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        if (row.empty() || (number == 1 && is_heading(row))) {
            continue;
        }
        MappedSeries mapped;
        if (std::string wrong = parse_row(row, mapped); !wrong.empty()) {
            problems.push_back({{file, number, 0}, std::move(wrong)});
        } else {
            all.push_back(mapped);
        }
    }
    return all;
}

std::vector<MappedSeries> read_series_mapping(const std::string& path, Problems& problems) {
    std::ifstream in{path, std::ios::binary};
    const std::string text{std::istreambuf_iterator<char>{in}, {}};
    if (!in.is_open() || in.bad()) {
        tell(problems, path, fmt::format("cannot be read: {}", std::strerror(errno)));
        return {};
    }
    return parse_series_mapping(text, path, problems);
}

std::string newest_series_mapping(const std::string& folder) {
    std::string newest;  // the date stands first in the name, so the last in order is the newest
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator{folder, error}) {
        const std::string name = entry.path().filename().string();
        if (is_mapping_name(name) && name > newest) {
            newest = name;
        }
    }
    return newest.empty() ? newest : (std::filesystem::path{folder} / newest).string();
}

}  // namespace pinstrike::feed::opra
