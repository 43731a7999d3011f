// path: cold
#pragma once

#include "config/section.h"
#include "feed/opra/traffic/traffic_config.h"

namespace pinstrike::feed::opra {

Section<TrafficConfig> traffic_section();

}  // namespace pinstrike::feed::opra
