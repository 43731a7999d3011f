// path: cold
#pragma once

#include "actors/recorder/record_config.h"
#include "config/section.h"

namespace pinstrike::actors {

[[nodiscard]] Section<RecordConfig> record_section();

}  // namespace pinstrike::actors
