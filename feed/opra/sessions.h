// path: cold
//
// OPRA's sessions on the clock. The regular one is on from Monday to Friday but for holidays. The
// GTH session of a trade date begins on the evening before, so from Sunday to Thursday, and runs on
// holidays too (spec e, f).
#pragma once

#include "feed/calendar_config.h"
#include "feed/session_hours.h"

#include <cstdint>

namespace pinstrike::feed::opra {

/// How far ahead of its start a program knows the calendar.
inline constexpr unsigned calendar_days = 10 * 366;

/// The hours of `days` days from the one of `from_ns` (since the Unix epoch), which may be under way.
/// Always on the air where the calendar is not heeded. Throws std::runtime_error if this host has
/// no time zone data.
[[nodiscard]] SessionHours session_hours(const CalendarConfig& calendar, bool gth,
                                         std::int64_t from_ns, unsigned days = calendar_days);

}  // namespace pinstrike::feed::opra
