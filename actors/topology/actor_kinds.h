// path: cold
//
// The kinds of actors that a config may name. A new kind needs a folder of its own and one word in
// the list of actors/meson.build.
#pragma once

#include "actors/core/actor_kind.h"
#include "actors/topology/feed_config.h"
#include "config/form.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pinstrike::actors {

[[nodiscard]] std::span<const ActorKind* const> actor_kinds();

/// The first of the list in actors/meson.build: cores have it by default, and `--book` writes its
/// state.
[[nodiscard]] const ActorKind& default_actor_kind();

/// Null for an unknown kind.
[[nodiscard]] const ActorKind* find_actor_kind(std::string_view kind);

/// The part of the config that an actor may see. The config must outlive the result.
[[nodiscard]] ActorSetup actor_setup(const FeedConfig& config);

/// The kinds with a sentence about each, for the table of keys.
[[nodiscard]] std::vector<ChoiceDoc> actor_kind_words();

/// All kinds, separated by ", ".
[[nodiscard]] std::string actor_kind_names();

/// Makes an actor of a known kind for one core. `memory`: the core's published memory, null if the
/// feed publishes nothing; the actor that publishes its state takes it. Throws std::bad_alloc if
/// there is not enough memory.
[[nodiscard]] std::unique_ptr<Actor> make_actor(std::string_view kind, const FeedConfig& config,
                                                CoreMemory* memory = nullptr);

/// The shape of the memory that each core publishes; nullopt: the config publishes nothing.
[[nodiscard]] std::optional<CoreShape> published_shape(const FeedConfig& config);

/// Private memory in bytes that one such actor maps when it starts; 0 for an unknown kind.
[[nodiscard]] std::size_t actor_bytes(std::string_view kind, const FeedConfig& config);

/// Memory in bytes for exchanging a core's state with peers; 0: none of its actors has such state.
[[nodiscard]] std::size_t transfer_bytes(const CoreConfig& core, bool takes);

/// Of the kind that has memory for the fewest series.
[[nodiscard]] SeriesRoom series_room(const FeedConfig& config);

/// The account rows of all kinds, without duplicates.
[[nodiscard]] std::vector<std::string_view> actor_account_rows();

}  // namespace pinstrike::actors
