// path: cold
//
// Values that carry their unit: durations ("2ms", "8h"), sizes ("512KiB"), and sets of numbers
// ("1-96, 220"). Only whole counts stand in a config without a unit, and their keys name it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinstrike {

/// A decimal integer and nothing else; nothing where it does not fit.
std::optional<std::int64_t> parse_integer(std::string_view text);
std::optional<double> parse_number(std::string_view text);

/// "2ms", "1.5s", "500us", "10ns": nanoseconds.
std::optional<std::int64_t> parse_duration_ns(std::string_view text);
std::string duration_text(std::int64_t ns);

/// 1234567 as "1,234,567".
std::string grouped(std::uint64_t value);

/// "512KiB", "64MiB", "1GiB", "100B": bytes.
std::optional<std::uint64_t> parse_bytes(std::string_view text);
std::string bytes_text(std::uint64_t bytes);

/// First and last of a range of line numbers, both included.
struct NumberRange {
    std::uint16_t first = 0;
    std::uint16_t last = 0;
};

inline constexpr std::size_t numbers_max = 65535;

/// "1-48, 220": ranges and single numbers from 1 to 65535, in the order written; at most
/// numbers_max of them.
std::optional<std::vector<NumberRange>> parse_ranges(std::string_view text);

/// The shortest such text of some numbers, which need not be sorted.
std::string ranges_text(std::vector<std::uint16_t> numbers);

}  // namespace pinstrike
