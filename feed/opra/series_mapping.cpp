// path: cold
#include "feed/opra/series_mapping.h"

#include "config/byte_order_mark.h"
#include "config/yaml.h"
#include "feed/opra/line_numbers.h"
#include "feed/opra/test_symbols.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

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

/// The first six fields of a row. `count`: how many it has in all.
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

/// The three bytes of an expiration block at their place in SeriesKey::name.
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
    if (whole.empty() || whole.size() > digits_max || part.size() > digits_max) {
        return std::nullopt;
    }
    std::int64_t strike_e8 = 0;
    for (const char digit : whole) {
        strike_e8 = strike_e8 * 10 + (digit - '0');
    }
    for (std::size_t i = 0; i < digits_max; ++i) {
        strike_e8 = strike_e8 * 10 + (i < part.size() ? part[i] - '0' : 0);
    }
    const bool digits = std::ranges::all_of(whole, is_digit) && std::ranges::all_of(part, is_digit);
    return digits ? std::optional{strike_e8} : std::nullopt;
}

/// Parses a row into `out`. Returns what is wrong with the row; empty: nothing.
std::string parse_row(std::string_view row, SeriesMap& out) {
    std::size_t count = 0;
    const auto fields = split(row, count);
    if (count != fields_count) {
        return fmt::format("found {} fields, expected {}", count, fields_count);
    }
    const auto symbol = symbol_of(fields[0]);
    if (!symbol) {
        return fmt::format("symbol: found {}, expected 1 to 5 letters and digits",
                           shown(fields[0]));
    }
    const auto expiration = expiration_of(fields[1]);
    if (!expiration) {
        return fmt::format(
            "expiration: found {}, expected a letter A to X, a day 01 to 31 and a year of two "
            "digits",
            shown(fields[1]));
    }
    const auto strike = strike_e8_of(fields[3]);
    if (!strike) {
        return fmt::format(
            "strike: found {}, expected a decimal number of at most 8 digits on either side",
            shown(fields[3]));
    }
    const auto line = integer_of<std::uint16_t>(fields[4]);
    if (!line || !is_series_line(*line)) {
        return fmt::format("line: found {}, expected a line of series: 1-96, 201-204",
                           shown(fields[4]));
    }
    const std::uint64_t session =
        is_gth_line(*line) ? std::uint64_t{SeriesKey::gth_bit} << 40 : std::uint64_t{0};
    out = {.series = {.name = *symbol | *expiration | session, .strike_e8 = *strike},
           .mapped_line = *line};
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

/// Reads the rows in order, passes the good ones to `take` and counts both kinds.
class RowReader {
  public:
    RowReader(const std::string& file, const OnSeries& on_series)
        : file_(file), on_series_(on_series) {}

    /// Reads all rows that end within the text. Returns the rest: the beginning of the next row.
    std::string_view read_whole(std::string_view text) {
        for (std::size_t end = 0; (end = text.find_first_of("\r\n")) != std::string_view::npos;) {
            if (end + 1 == text.size() && text[end] == '\r') {
                break;  // perhaps the first half of a line end
            }
            read(text.substr(0, end));
            text.remove_prefix(text.substr(end).starts_with("\r\n") ? end + 2 : end + 1);
        }
        return text;
    }

    void read(std::string_view text) {
        if (passing_over_) {
            passing_over_ = false;
            return;
        }
        ++number_;
        const std::string_view row = trimmed(number_ == 1 ? without_byte_order_mark(text) : text);
        if (row.empty() || (number_ == 1 && is_heading(row))) {
            return;
        }
        SeriesMap map{};
        if (std::string wrong = parse_row(row, map); !wrong.empty()) {
            add_malformed(std::move(wrong));
        } else {
            ++rows_.good;
            on_series_(map);
        }
    }

    /// The row that begins here is too long for a valid row. Counts one malformed row and skips it
    /// to its end.
    void pass_over() {
        if (!passing_over_) {
            ++number_;
            add_malformed("found a row without an end, expected six fields");
            passing_over_ = true;
        }
    }

    [[nodiscard]] MappingRows rows() && { return std::move(rows_); }

  private:
    void add_malformed(std::string wrong) {
        ++rows_.malformed;
        if (rows_.problems.size() < MappingRows::problems_max) {
            add_problem(rows_.problems, Place{file_, number_, 0}, std::move(wrong));
        }
    }

    const std::string& file_;
    const OnSeries& on_series_;
    MappingRows rows_;
    unsigned number_ = 0;
    bool passing_over_ = false;
};

}  // namespace

MappingRows parse_series_mapping(std::string_view text, const std::string& file,
                                 const OnSeries& on_series) {
    RowReader reader{file, on_series};
    if (const std::string_view last = reader.read_whole(text); !last.empty()) {
        reader.read(last);
    }
    return std::move(reader).rows();
}

std::optional<MappingRows> read_series_mapping(const std::string& path, const OnSeries& on_series,
                                               Problems& problems) {
    constexpr std::size_t chunk_bytes = 1 << 20;
    errno = 0;
    std::ifstream in{path, std::ios::binary};
    RowReader reader{path, on_series};
    std::vector<char> chunk(chunk_bytes);
    std::size_t kept_bytes = 0;  // of a row that the end of the last chunk cut
    while (in.is_open()) {
        in.read(chunk.data() + kept_bytes, static_cast<std::streamsize>(chunk_bytes - kept_bytes));
        const auto got_bytes = static_cast<std::size_t>(in.gcount());
        if (got_bytes == 0) {
            break;
        }
        std::string_view rest = reader.read_whole({chunk.data(), kept_bytes + got_bytes});
        if (rest.size() == chunk_bytes) {
            reader.pass_over();
            rest = {};
        }
        std::ranges::copy(rest, chunk.begin());
        kept_bytes = rest.size();
    }
    if (!in.is_open() || in.bad()) {
        const int error = errno;
        add_problem(problems, path, fmt::format("cannot be read: {}", std::strerror(error)),
                    remedy_of(error));
        return std::nullopt;
    }
    if (kept_bytes != 0) {
        reader.read({chunk.data(), kept_bytes});
    }
    return std::move(reader).rows();
}

std::string newest_series_mapping(const std::string& folder) {
    std::string newest;  // names differ only in date and time: the last in order is the newest
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
