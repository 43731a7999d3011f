// path: cold
//
// The hours of OPRA's sessions. The regular session is on from Monday to Friday except on holidays.
// The GTH session of a trade date begins on the evening before, so on Sunday to Thursday. It also
// runs on holidays, except a few of its own (OPRA Block Header, Schedule of Daily OPRA Messages).
#pragma once

#include "feed/lines/calendar_config.h"
#include "feed/lines/session_hours.h"

namespace pinstrike::feed::opra {

/// The session hours of these trade dates, in order. If the config says to ignore the calendar, the
/// session is always on. Throws std::runtime_error if this host has no time zone data.
[[nodiscard]] SessionHours session_hours(const CalendarConfig& calendar, bool gth, Days days);

}  // namespace pinstrike::feed::opra
