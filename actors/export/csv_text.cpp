// path: cold
#include "actors/export/csv_text.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cstring>

namespace pinstrike::actors {
namespace {

constexpr std::uint64_t ns_per_second = 1'000'000'000;
constexpr std::size_t fraction_digits = 9;

/// Exactly nine digits.
void write_fraction(char* to, std::uint64_t value) {
    for (std::size_t i = fraction_digits; i > 0; --i) {
        to[i - 1] = static_cast<char>('0' + value % 10);
        value /= 10;
    }
}

}  // namespace

char* write_price(char* to, std::int64_t price) {
    auto units = static_cast<std::uint64_t>(price);
    if (price < 0) {
        *to++ = '-';
        units = 0 - units;
    }
    to = std::to_chars(to, to + csv_text_max, units / ns_per_second).ptr;
    std::uint64_t fraction = units % ns_per_second;
    if (fraction == 0) {
        return to;
    }
    *to++ = '.';
    constexpr std::uint64_t cent = ns_per_second / 100;
    if (fraction % cent == 0) {  // nearly all prices
        const std::uint64_t cents = fraction / cent;
        *to++ = static_cast<char>('0' + cents / 10);
        if (cents % 10 != 0) {
            *to++ = static_cast<char>('0' + cents % 10);
        }
        return to;
    }
    write_fraction(to, fraction);
    to += fraction_digits;
    while (to[-1] == '0') {
        --to;
    }
    return to;
}

char* CsvTimes::write(char* to, std::uint64_t ns) {
    if (ns / ns_per_second != second_) {
        set_second(ns / ns_per_second);
    }
    std::memcpy(to, text_, second_chars);
    write_fraction(to + second_chars, ns % ns_per_second);
    to += second_chars + fraction_digits;
    *to++ = 'Z';
    return to;
}

void CsvTimes::set_second(std::uint64_t second) {
    using namespace std::chrono;
    constexpr std::uint64_t day_seconds = 86'400;
    const year_month_day date{sys_days{days{second / day_seconds}}};
    const std::uint64_t of_day = second % day_seconds;
    fmt::format_to_n(text_, second_chars, "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.",
                     static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()), of_day / 3600, of_day / 60 % 60,
                     of_day % 60);
    second_ = second;
}

std::string csv_field(std::string_view text) {
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
        return std::string{text};
    }
    std::string field = "\"";
    for (const char letter : text) {
        field.append(letter == '"' ? 2 : 1, letter);
    }
    return field + '"';
}

}  // namespace pinstrike::actors
