// path: cold
#pragma once

#include "config/section.h"
#include "feed/history_config.h"

namespace pinstrike::feed {

[[nodiscard]] Section<HistoryConfig> history_section();

}  // namespace pinstrike::feed
