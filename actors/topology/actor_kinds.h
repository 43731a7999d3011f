// path: cold
//
// The kinds of actors that a config may name. A new kind is a folder of its own and one line in the
// list of actor_kinds.cpp.
#pragma once

#include "actors/core/actor.h"
#include "actors/topology/feed_config.h"
#include "config/form.h"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pinstrike::actors {

[[nodiscard]] bool is_actor_kind(std::string_view kind);

/// The kinds and a sentence of each, for the table of keys.
[[nodiscard]] std::vector<ChoiceDoc> actor_kind_words();

/// All kinds, separated by ", ".
[[nodiscard]] std::string actor_kind_names();

/// An actor of a known kind for one core; may throw std::bad_alloc where its memory is not to be
/// had.
[[nodiscard]] std::unique_ptr<Actor> make_actor(std::string_view kind, const FeedConfig& config);

/// Memory that one such actor maps at its start; 0 for an unknown kind.
[[nodiscard]] std::size_t actor_bytes(std::string_view kind, const FeedConfig& config);

}  // namespace pinstrike::actors
