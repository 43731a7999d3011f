// path: cold
//
// A reload: new settings for the pollers of a running feed.
#pragma once

#include "actors/appliance/feed_parts.h"
#include "config/problem.h"

#include <cstdint>

namespace pinstrike::actors {

/// Control thread. Gives every poller the thresholds, filters and added lines of a config that has
/// no other changes. False, with the reasons: nothing was changed, or a poller has not adopted its
/// settings within `within_ns` and will do so when it continues.
bool give_settings(FeedParts& parts, const FeedConfig& config, std::int64_t within_ns,
                   Problems& problems);

}  // namespace pinstrike::actors
