// path: cold
//
// What an actor core is handed of generated traffic, kept, to be handed on again and again.
#pragma once

#include "feed/event.h"
#include "feed/opra/traffic_config.h"

#include <cstddef>
#include <vector>

namespace pinstrike::command {

struct RecordedEvents {
    std::vector<feed::Event> records;  ///< messages side by side, as in a ring
    std::size_t messages = 0;
};

/// The trading of a day on all its lines, of config.messages_count messages: neither start nor end.
[[nodiscard]] RecordedEvents record_events(feed::opra::TrafficConfig config);

}  // namespace pinstrike::command
