// path: cold
#include "actors/topology/actor_kinds.h"

#include "config/check.h"
#include "config/joined.h"
#include "feed/venue_services.h"

#include <algorithm>
#include <limits>

namespace pinstrike::actors {

const ActorKind& default_actor_kind() {
    return *actor_kinds().front();
}

std::vector<std::string> default_actors() {
    return {std::string{default_actor_kind().name()}};
}

const ActorKind* find_actor_kind(std::string_view kind) {
    const auto all = actor_kinds();
    const auto found = std::ranges::find(all, kind, &ActorKind::name);
    return found == all.end() ? nullptr : *found;
}

ActorSetup actor_setup(const FeedConfig& config) {
    return {.configs = config.actors,
            .cores_count = static_cast<unsigned>(config.cores.size()),
            .test_symbols = config.test_symbols,
            .is_test_symbol = feed::venue_services(config.kind).is_test_symbol,
            .underlyings_whole = config.sharding == Sharding::underlying};
}

std::vector<ChoiceDoc> actor_kind_words() {
    std::vector<ChoiceDoc> words;
    for (const ActorKind* kind : actor_kinds()) {
        words.push_back({std::string{kind->name()}, std::string{kind->sentence()}});
    }
    return words;
}

std::string actor_kind_names() {
    return joined(actor_kinds(), ", ", &ActorKind::name);
}

std::unique_ptr<Actor> make_actor(std::string_view kind, const FeedConfig& config,
                                  CoreMemory* memory) {
    const ActorKind* known = find_actor_kind(kind);
    PINSTRIKE_CHECK(known != nullptr);
    ActorSetup setup = actor_setup(config);
    setup.memory = known->published_shape(setup) ? memory : nullptr;
    return known->make(setup);
}

std::optional<CoreShape> published_shape(const FeedConfig& config) {
    for (const ActorKind* kind : actor_kinds()) {
        auto shape = kind->published_shape(actor_setup(config));
        if (shape && config.publish.on()) {
            shape->stream_records = config.publish.stream ? config.publish.stream_records : 0;
            return shape;
        }
    }
    return std::nullopt;
}

std::size_t actor_bytes(std::string_view kind, const FeedConfig& config) {
    const ActorKind* known = find_actor_kind(kind);
    const bool published =
        known != nullptr && config.publish.on() && known->published_shape(actor_setup(config));
    return known == nullptr || published ? 0 : known->bytes(actor_setup(config));
}

/// The size for the core's actor that exchanges state with peers. The rules allow one for each
/// core.
std::size_t transfer_bytes(const CoreConfig& core, bool takes) {
    for (const std::string& name : core.actors) {
        const ActorKind* known = find_actor_kind(name);
        if (const std::size_t bytes = known == nullptr ? 0 : known->transfer_bytes(takes);
            bytes != 0) {
            return bytes;
        }
    }
    return core.own_transfer_bytes;
}

SeriesRoom series_room(const FeedConfig& config) {
    SeriesRoom least{
        std::numeric_limits<std::size_t>::max() / 2, std::numeric_limits<std::size_t>::max(), {}};
    for (const ActorKind* kind : actor_kinds()) {
        const auto room = kind->series_room(actor_setup(config));
        if (room && room->all_cores < least.all_cores) {
            least = *room;
        }
    }
    return least;
}

std::vector<std::string_view> actor_account_rows() {
    std::vector<std::string_view> rows;
    for (const ActorKind* kind : actor_kinds()) {
        for (const std::string_view row : kind->account_rows()) {
            if (std::ranges::count(rows, row) == 0) {
                rows.push_back(row);
            }
        }
    }
    return rows;
}

}  // namespace pinstrike::actors
