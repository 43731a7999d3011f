// path: cold
//
// Values with a unit: durations ("2ms", "8h") and sizes ("512KiB"); and sets of numbers ("1-96,
// 220"). In a config, only counts are written without a unit, because the key names it
// (burst_packets).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinstrike {

/// Parses a decimal integer; nullopt for any other text and if it overflows.
std::optional<std::int64_t> parse_integer(std::string_view text);
std::optional<double> parse_number(std::string_view text);

/// Parses "2ms", "1.5s", "500us" or "10ns" into nanoseconds.
std::optional<std::int64_t> parse_duration_ns(std::string_view text);
std::string duration_text(std::int64_t ns);

/// Writes 1234567 as "1,234,567".
std::string grouped(std::uint64_t value);

/// Parses "512KiB", "64MiB", "1GiB" or "100B" into bytes.
std::optional<std::uint64_t> parse_bytes(std::string_view text);
std::string bytes_text(std::uint64_t bytes);

/// Whole mebibytes, rounded up: "1,234".
std::string mebibytes_text(std::uint64_t bytes);

/// Parses "1-48, 220": ranges and single numbers from `least` to range_number_max. Returns the
/// numbers in the order written; at most numbers_max.
std::optional<std::vector<std::uint16_t>> parse_ranges(std::string_view text, int least = 1);

/// Writes `numbers`, in any order, as the shortest text that parse_ranges() accepts.
std::string ranges_text(std::vector<std::uint16_t> numbers, std::string_view separator = ", ");

}  // namespace pinstrike
