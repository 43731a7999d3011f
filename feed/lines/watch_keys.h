// path: cold
//
// The keys of what is expected of lines, and when.
#pragma once

#include "config/section.h"
#include "feed/lines/calendar_config.h"
#include "feed/lines/line_watch.h"

namespace pinstrike::feed {

Section<SilenceConfig> silence_section();

Section<CalendarConfig> calendar_section();

}  // namespace pinstrike::feed
