// path: cold
#pragma once

#include "actors/poller/poller_task.h"
#include "actors/topology/feed_config.h"
#include "config/problem.h"

#include <optional>

namespace pinstrike::actors {

/// When the feed's lines are on the air, by its calendar; nothing, with a Problem, on a host that
/// does not know the exchanges' time zone.
[[nodiscard]] std::optional<LineHours> hours_of(const FeedConfig& config, Problems& problems);

}  // namespace pinstrike::actors
