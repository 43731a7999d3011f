// path: cold
#include "config/units.h"

#include "config/limits.h"
#include "config/memory_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <span>

namespace pinstrike {

namespace {

struct Unit {
    std::string_view name;
    std::int64_t factor;
};

// Sorted by size, because a value is printed in the first unit that divides it.
constexpr std::array durations{Unit{"s", 1'000'000'000}, Unit{"ms", 1'000'000}, Unit{"us", 1'000},
                               Unit{"ns", 1}};
constexpr std::array long_durations{Unit{"h", 3'600'000'000'000}, Unit{"m", 60'000'000'000}};
constexpr std::array sizes{Unit{"GiB", 1LL << 30}, Unit{"MiB", 1LL << 20}, Unit{"KiB", 1LL << 10},
                           Unit{"B", 1}};

std::string_view trimmed(std::string_view text) {
    text = text.substr(0, text.find_last_not_of(" \n") + 1);
    return text.substr(std::min(text.find_first_not_of(" \n"), text.size()));
}

template <class Value>
std::optional<Value> parse_whole(std::string_view text) {
    Value value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc{} && end == text.data() + text.size();
    return whole ? std::optional{value} : std::nullopt;
}

std::optional<std::int64_t> parse_quantity(std::string_view text, std::span<const Unit> units) {
    const std::size_t digits = text.find_first_not_of("0123456789.");
    if (digits == 0 || digits == std::string_view::npos) {
        return std::nullopt;
    }
    const auto unit = std::ranges::find(units, text.substr(digits), &Unit::name);
    if (unit == units.end()) {
        return std::nullopt;
    }
    const std::string_view figure = text.substr(0, digits);
    if (const auto whole = parse_integer(figure)) {
        const bool fits = *whole <= std::numeric_limits<std::int64_t>::max() / unit->factor;
        return fits ? std::optional{*whole * unit->factor} : std::nullopt;
    }
    const auto number = parse_number(figure);
    if (!number || *number * static_cast<double>(unit->factor) > 1e18) {
        return std::nullopt;
    }
    return static_cast<std::int64_t>(std::llround(*number * static_cast<double>(unit->factor)));
}

std::string quantity_text(std::int64_t value, std::span<const Unit> units) {
    for (const Unit& unit : units) {
        if (value != 0 && value % unit.factor == 0) {
            return fmt::format("{}{}", value / unit.factor, unit.name);
        }
    }
    return fmt::format("0{}", units.back().name);
}

/// Adds the numbers of "7" or "1-48" to `numbers`. Returns false if the text is neither, or if
/// there would be more than numbers_max: these must contain repetitions, and could use any amount
/// of memory.
bool add_range(std::string_view text, int least, std::vector<std::uint16_t>& numbers) {
    const std::size_t dash = text.find('-');
    const auto first = parse_integer(trimmed(text.substr(0, dash)));
    const auto last =
        dash == std::string_view::npos ? first : parse_integer(trimmed(text.substr(dash + 1)));
    if (!first || !last || *first < least || *last < *first || *last > range_number_max ||
        numbers.size() + static_cast<std::size_t>(*last - *first) >= numbers_max) {
        return false;
    }
    for (std::int64_t number = *first; number <= *last; ++number) {
        numbers.push_back(static_cast<std::uint16_t>(number));
    }
    return true;
}

}  // namespace

std::optional<std::int64_t> parse_integer(std::string_view text) {
    return parse_whole<std::int64_t>(text);
}

std::optional<double> parse_number(std::string_view text) {
    const auto value = parse_whole<double>(text);
    return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<std::int64_t> parse_duration_ns(std::string_view text) {
    const auto ns = parse_quantity(text, durations);
    return ns ? ns : parse_quantity(text, long_durations);
}

std::string duration_text(std::int64_t ns) {
    return quantity_text(ns, durations);
}

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
    const auto value = parse_quantity(text, sizes);
    return value ? std::optional{static_cast<std::uint64_t>(*value)} : std::nullopt;
}

std::string bytes_text(std::uint64_t bytes) {
    return quantity_text(static_cast<std::int64_t>(bytes), sizes);
}

std::string mebibytes_text(std::uint64_t bytes) {
    return grouped((bytes + mebibyte - 1) / mebibyte);
}

std::optional<std::vector<std::uint16_t>> parse_ranges(std::string_view text, int least) {
    std::vector<std::uint16_t> numbers;
    while (true) {
        const std::size_t comma = text.find(',');
        if (!add_range(trimmed(text.substr(0, comma)), least, numbers)) {
            return std::nullopt;
        }
        if (comma == std::string_view::npos) {
            return numbers;
        }
        text.remove_prefix(comma + 1);
    }
}

std::string grouped(std::uint64_t value) {
    const std::string digits = fmt::to_string(value);
    std::string text;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        if (i != 0 && (digits.size() - i) % 3 == 0) {
            text.push_back(',');
        }
        text.push_back(digits[i]);
    }
    return text;
}

std::string ranges_text(std::vector<std::uint16_t> numbers, std::string_view separator) {
    std::ranges::sort(numbers);
    std::string out;
    for (std::size_t i = 0; i < numbers.size();) {
        std::size_t last = i;
        while (last + 1 < numbers.size() && numbers[last + 1] <= numbers[last] + 1) {
            ++last;
        }
        out += out.empty() ? "" : separator;
        out += numbers[last] == numbers[i] ? fmt::format("{}", numbers[i])
                                           : fmt::format("{}-{}", numbers[i], numbers[last]);
        i = last + 1;
    }
    return out;
}

}  // namespace pinstrike
