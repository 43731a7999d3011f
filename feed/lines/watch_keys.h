// path: cold
//
// The keys of the calendar, and of the times after which a stream counts as silent or down.
#pragma once

#include "config/section.h"
#include "feed/lines/calendar_config.h"
#include "feed/lines/line_watch.h"

namespace pinstrike::feed {

Section<SilenceConfig> silence_section();

Section<CalendarConfig> calendar_section();

}  // namespace pinstrike::feed
