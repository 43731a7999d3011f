// path: cold
//
// Moments that a user names: "14:30", "14:30:05.25" or "2026-11-25T14:30", in New York time, or in
// UTC with a Z behind them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace pinstrike::feed {

struct Moment {
    std::optional<std::int64_t> date_days;  ///< since 1970; nullopt: the text has no date
    std::int64_t time_ns = 0;               ///< since midnight
    bool utc = false;                       ///< else New York
};

/// Nothing if the text is no moment.
[[nodiscard]] std::optional<Moment> parse_moment(std::string_view text);

/// Nanoseconds since the Unix epoch. A moment without a date is of the day of `first_ns`. Nothing
/// if `last_ns` is of another day. Throws std::runtime_error if this host has no time zone data.
[[nodiscard]] std::optional<std::int64_t> ns_of(const Moment& moment, std::int64_t first_ns,
                                                std::int64_t last_ns);

/// The trade date of a moment, as 20261127. From 23:20 UTC on it is the next day: the last message
/// of New York's regular session has come by then (18:15 in winter), and the first one of its
/// overnight session has not (19:30 in summer).
[[nodiscard]] std::uint32_t trade_date_of(std::int64_t wall_ns);

/// The moment at which the trade date of a moment began.
[[nodiscard]] std::int64_t trade_date_begin_ns(std::int64_t wall_ns);

}  // namespace pinstrike::feed
