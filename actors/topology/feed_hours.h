// path: cold
#pragma once

#include "actors/poller/poller_setup.h"
#include "actors/topology/feed_config.h"
#include "config/problem.h"

#include <optional>

namespace pinstrike::actors {

/// The hours at which the feed's lines send, from the config's calendar. nullopt and a Problem if
/// the host does not know the time zone of the exchanges.
[[nodiscard]] std::optional<LineHours> hours_of(const FeedConfig& config, Problems& problems);

}  // namespace pinstrike::actors
