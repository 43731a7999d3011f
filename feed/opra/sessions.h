// path: cold
//
// OPRA's sessions on the clock. The regular one is on from Monday to Friday but for holidays. The
// GTH session of a trade date begins on the evening before, so from Sunday to Thursday, and runs on
// holidays too, but for a few that are its own (OPRA Block Header, Schedule of Daily OPRA
// Messages).
#pragma once

#include "feed/lines/calendar_config.h"
#include "feed/lines/session_hours.h"

namespace pinstrike::feed::opra {

/// The hours of these trade dates, in order. Always on the air where the calendar is not heeded.
/// Throws std::runtime_error if this host has no time zone data.
[[nodiscard]] SessionHours session_hours(const CalendarConfig& calendar, bool gth, Days days);

}  // namespace pinstrike::feed::opra
