// path: cold
//
// What an actor core is handed of generated traffic.
#pragma once

#include "actors/bench/recorded_events.h"
#include "feed/opra/traffic/traffic_config.h"

namespace pinstrike::command {

/// The trading of a day on all its lines, of config.messages_count messages: neither start nor end.
[[nodiscard]] RecordedEvents record_events(feed::opra::TrafficConfig config);

}  // namespace pinstrike::command
