// path: cold
#pragma once

#include "actors/core/actor_kind.h"
#include "actors/topology/feed_config.h"
#include "config/places.h"
#include "config/problem.h"

#include <span>

namespace pinstrike::actors {

/// Checks the rules that involve several keys. The rules use the structs alone, not the machine. A
/// rule is skipped if one of its keys was not understood. Expects names, lines and groups to be
/// filled in (load_config does this).
void check_feed(const FeedConfig& config, const Places& places, Problems& problems);

/// Checks only the rules of these kinds of actors.
void check_actors(const FeedConfig& config, std::span<const ActorKind* const> kinds,
                  const Places& places, Problems& problems);

}  // namespace pinstrike::actors
