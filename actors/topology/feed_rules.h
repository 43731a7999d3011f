// path: cold
#pragma once

#include "actors/core/actor_kind.h"
#include "actors/topology/feed_config.h"
#include "config/places.h"
#include "config/problem.h"

#include <span>

namespace pinstrike::actors {

/// What the parts of a config must be together, beyond what each key says for itself: decided on
/// the structs alone, without a look at the machine. Rules over keys that were not understood are
/// passed over. Expects names, lines and groups to be filled in (load_config does it).
void check_feed(const FeedConfig& config, const Places& places, Problems& problems);

/// The part of it that these kinds of actors ask for.
void check_actors(const FeedConfig& config, std::span<const ActorKind* const> kinds,
                  const Places& places, Problems& problems);

}  // namespace pinstrike::actors
