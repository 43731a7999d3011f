// path: cold
//
// The events that an actor core gets from generated traffic.
#pragma once

#include "actors/bench/recorded_events.h"
#include "feed/opra/traffic/traffic_config.h"

namespace pinstrike::command {

/// Returns the events of config.messages_count messages of a trading day on all quote lines,
/// without start and end of day.
[[nodiscard]] actors::RecordedEvents record_events(feed::opra::TrafficConfig config);

}  // namespace pinstrike::command
