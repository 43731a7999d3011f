// path: cold
#pragma once

#include "actors/topology/feed_config.h"
#include "config/section.h"

namespace pinstrike::actors {

/// Every key of a config file: the key tables of all modules, joined.
const Section<FeedConfig>& feed_section();

}  // namespace pinstrike::actors
