// path: cold
#pragma once

#include "config/section.h"
#include "feed/recovery/history_config.h"

namespace pinstrike::feed {

[[nodiscard]] Section<HistoryConfig> history_section();

}  // namespace pinstrike::feed
