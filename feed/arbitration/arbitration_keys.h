// path: cold
#pragma once

#include "config/section.h"
#include "feed/arbitration/arbiter.h"

namespace pinstrike::feed {

Section<ArbitrationConfig> arbitration_section();

}  // namespace pinstrike::feed
