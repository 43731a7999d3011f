// path: cold
#pragma once

#include "config/section.h"
#include "feed/arbiter.h"

namespace pinstrike::feed {

Section<ArbitrationConfig> arbitration_section();

}  // namespace pinstrike::feed
