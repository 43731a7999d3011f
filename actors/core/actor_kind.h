// path: cold
//
// A kind of actor: everything that is known before an actor is made. Its folder actors/NAME defines
// `const ActorKind& NAME_kind()`, and the list in actors/meson.build has the name. Config keys,
// manual, metrics, account, memory plan and state transfer are made from it.
#pragma once

#include "actors/core/actor.h"
#include "actors/core/actor_report.h"
#include "actors/publish/core_memory.h"
#include "config/problem.h"
#include "config/section.h"
#include "config/type_map.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pinstrike::actors {

/// The part of a feed's config that a kind may see.
struct ActorSetup {
    const TypeMap& configs;  ///< the config structs of kinds
    unsigned cores_count = 1;
    bool test_symbols = false;  ///< messages of test symbols reach the cores
    /// Whether the venue reserves a symbol (SeriesKey::symbol_word()) for tests; null: it reserves
    /// none.
    bool (*is_test_symbol)(std::uint64_t symbol_word) = nullptr;
    bool underlyings_whole = false;  ///< all series of an underlying have the same core
    /// Published memory of one core, for the actor with a published_shape(); null: it maps its own.
    CoreMemory* memory = nullptr;
};

/// The config section with the kind's name.
struct ActorSection {
    Form<TypeMap> form;
    std::string sentence;
};

template <class Config>
ActorSection actor_section(const Section<Config>& section, std::string sentence) {
    Form<Config> form = section_form(section);
    Form<TypeMap> out;
    out.words = std::move(form.words);
    out.schema = std::move(form.schema);
    out.choices = std::move(form.choices);
    out.document = std::move(form.document);
    out.write = [write = std::move(form.write)](const TypeMap& from) {
        return write(from.get<Config>());
    };
    out.read = [read = std::move(form.read)](const Node& node, const std::string& path,
                                             TypeMap& into, Reader& reader) {
        return read(node, path, into.get<Config>(), reader);
    };
    return {std::move(out), std::move(sentence)};
}

/// A key of the kind's section, and the fault of its value.
struct ActorMistake {
    std::string key;
    std::string text;
};

/// The number of series for which the actors of a kind have memory.
struct SeriesRoom {
    std::size_t all_cores = 0;
    std::size_t each_core = 0;
    std::string key;  ///< the config key that sets it
};

class ActorKind {
  public:
    virtual ~ActorKind() = default;

    [[nodiscard]] virtual std::string_view name() const = 0;

    /// One sentence, for the table of keys.
    [[nodiscard]] virtual std::string_view sentence() const = 0;

    /// Makes an actor for one core; may throw std::bad_alloc.
    [[nodiscard]] virtual std::unique_ptr<Actor> make(const ActorSetup& setup) const = 0;

    /// Bytes that one actor maps at its start.
    [[nodiscard]] virtual std::size_t bytes(const ActorSetup& /*setup*/) const { return 0; }

    /// The sizes of one core's arrays in published memory, without the stream of events; nullopt:
    /// it publishes nothing.
    [[nodiscard]] virtual std::optional<CoreShape> published_shape(
        const ActorSetup& /*setup*/) const {
        return std::nullopt;
    }

    /// Its config section; nullopt: it has no keys.
    [[nodiscard]] virtual std::optional<ActorSection> section() const { return std::nullopt; }

    /// Faults of its keys in connection with the rest of the config.
    [[nodiscard]] virtual std::vector<ActorMistake> mistakes(const ActorSetup& /*setup*/) const {
        return {};
    }

    /// Whether it aggregates by underlying and so needs `sharding: underlying`. By default the
    /// series of one underlying go to different cores, and each actor would aggregate only a part.
    [[nodiscard]] virtual bool needs_underlyings_whole() const { return false; }

    /// The tables of ActorReport::figures().
    [[nodiscard]] virtual std::vector<ActorTable> tables() const { return {}; }

    /// The keys of ActorReport::account_rows(). Every core's account has them, with 0 if it has no
    /// such actor.
    [[nodiscard]] virtual std::vector<std::string_view> account_rows() const { return {}; }

    /// Bytes for the exchange of state with peers; 0: its actors have no such state.
    [[nodiscard]] virtual std::size_t transfer_bytes(bool /*takes*/) const { return 0; }

    /// The number of series for which it has memory; nullopt: it has no limit, or keeps no series.
    [[nodiscard]] virtual std::optional<SeriesRoom> series_room(const ActorSetup& /*setup*/) const {
        return std::nullopt;
    }

    /// Writes the state of all its actors to a file, after they were stopped.
    virtual void write_state(std::span<const Actor* const> /*actors*/, const std::string& path,
                             Problems& problems) const {
        add_problem(problems, path, "actors of this kind have no state to write");
    }

  protected:
    ActorKind() = default;
    ActorKind(const ActorKind&) = delete;
    ActorKind& operator=(const ActorKind&) = delete;
};

}  // namespace pinstrike::actors
