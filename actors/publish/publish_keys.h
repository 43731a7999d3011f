// path: cold
#pragma once

#include "actors/publish/publish_config.h"
#include "config/section.h"

namespace pinstrike::actors {

[[nodiscard]] Section<PublishConfig> publish_section();

}  // namespace pinstrike::actors
