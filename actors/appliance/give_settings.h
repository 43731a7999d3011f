// path: cold
//
// A reload: new settings for the pollers of a running feed.
#pragma once

#include "actors/appliance/feed_parts.h"
#include "config/problem.h"

#include <cstdint>

namespace pinstrike::actors {

/// What became of new settings.
enum class SettingsOutcome : std::uint8_t {
    refused,  ///< nothing was changed
    offered,  ///< a poller makes no loop steps, and adopts its settings when it continues
    adopted
};

/// Control thread. Gives every poller the thresholds, filters and added lines of a config that has
/// no other changes, and waits up to `within_ns` for the pollers. `problems` has the reasons of a
/// refusal.
[[nodiscard]] SettingsOutcome give_settings(FeedParts& parts, const FeedConfig& config,
                                            std::int64_t within_ns, Problems& problems);

}  // namespace pinstrike::actors
