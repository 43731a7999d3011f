// path: cold
//
// The kinds of actors that a config may name. A new kind is a folder of its own and one word in the
// list of actors/meson.build.
#pragma once

#include "actors/core/actor_kind.h"
#include "actors/topology/feed_config.h"
#include "config/form.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pinstrike::actors {

[[nodiscard]] std::span<const ActorKind* const> actor_kinds();

/// Null for an unknown kind.
[[nodiscard]] const ActorKind* find_actor_kind(std::string_view kind);

/// What a kind gets to know of the config. It outlives the setup.
[[nodiscard]] ActorSetup actor_setup(const FeedConfig& config);

/// The kinds and a sentence of each, for the table of keys.
[[nodiscard]] std::vector<ChoiceDoc> actor_kind_words();

/// All kinds, separated by ", ".
[[nodiscard]] std::string actor_kind_names();

/// An actor of a known kind for one core; may throw std::bad_alloc where its memory is not to be
/// had.
[[nodiscard]] std::unique_ptr<Actor> make_actor(std::string_view kind, const FeedConfig& config);

/// Memory that one such actor maps at its start; 0 for an unknown kind.
[[nodiscard]] std::size_t actor_bytes(std::string_view kind, const FeedConfig& config);

/// Memory of the exchange of a core's state with peers; 0: none of its actors has such state.
[[nodiscard]] std::size_t transfer_bytes(const CoreConfig& core, bool takes);

/// Of the kind that has the least memory for series.
[[nodiscard]] SeriesRoom series_room(const FeedConfig& config);

/// The account rows of all kinds, each once.
[[nodiscard]] std::vector<std::string_view> actor_account_rows();

}  // namespace pinstrike::actors
