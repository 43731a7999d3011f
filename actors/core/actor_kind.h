// path: cold
//
// A kind of actor: all that is known of it before one is made. Its folder defines one object of
// it, and the list of kinds (actors/topology/actor_kinds.cpp) names that object; config keys,
// manual, metrics, account, memory plan and state transfer come from here.
#pragma once

#include "actors/core/actor.h"
#include "actors/core/actor_configs.h"
#include "actors/core/actor_report.h"
#include "config/form.h"
#include "config/problem.h"

#include <any>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pinstrike::actors {

/// What a kind gets to know of a feed's config.
struct ActorSetup {
    const ActorConfigs& configs;
    unsigned cores_count = 1;
    bool test_symbols = false;  ///< tests reach the cores
    /// Whether a symbol (SeriesKey::symbol_word()) is one that the venue reserves for tests; null:
    /// it reserves none.
    bool (*is_test_symbol)(std::uint64_t symbol_word) = nullptr;
};

/// The config section that bears the kind's name.
struct ActorSection {
    Form<std::any> form;
    std::string sentence;
};

/// A key of the kind's section, and what is wrong with it.
struct ActorMistake {
    std::string key;
    std::string text;
};

/// How many series actors of a kind have memory for.
struct SeriesRoom {
    std::size_t all_cores = 0;
    std::size_t each_core = 0;
    std::string key;  ///< that sets it
};

class ActorKind {
  public:
    virtual ~ActorKind() = default;

    [[nodiscard]] virtual std::string_view name() const = 0;

    /// For the table of keys.
    [[nodiscard]] virtual std::string_view sentence() const = 0;

    /// One for one core; may throw std::bad_alloc where its memory is not to be had.
    [[nodiscard]] virtual std::unique_ptr<Actor> make(const ActorSetup& setup) const = 0;

    /// Memory that one maps at its start.
    [[nodiscard]] virtual std::size_t bytes(const ActorSetup& /*setup*/) const { return 0; }

    /// Nothing: it has no keys.
    [[nodiscard]] virtual std::optional<ActorSection> section() const { return std::nullopt; }

    /// What its keys must be together with the rest of the config.
    [[nodiscard]] virtual std::vector<ActorMistake> mistakes(const ActorSetup& /*setup*/) const {
        return {};
    }

    /// True: it aggregates by underlying, so the config must have `sharding: underlying`. By
    /// default series of one underlying go to different cores, and each actor would count a part.
    [[nodiscard]] virtual bool needs_underlyings_whole() const { return false; }

    /// Tables of ActorReport::figures.
    [[nodiscard]] virtual std::vector<ActorTable> tables() const { return {}; }

    /// Keys of ActorReport::account_rows. Every core has them, 0 where it has no such actor.
    [[nodiscard]] virtual std::vector<std::string_view> account_rows() const { return {}; }

    /// Memory of the exchange of state with peers; 0: it has no state that can be exchanged.
    [[nodiscard]] virtual std::size_t transfer_bytes(bool /*takes*/) const { return 0; }

    /// Nothing: it has memory for any number, or keeps nothing of series.
    [[nodiscard]] virtual std::optional<SeriesRoom> series_room(const ActorSetup& /*setup*/) const {
        return std::nullopt;
    }

    /// Writes the state of all its actors to a file, after their stop.
    virtual void write_state(std::span<const Actor* const> /*actors*/, const std::string& path,
                             Problems& problems) const {
        tell(problems, path, "actors of this kind have no state to write");
    }

  protected:
    ActorKind() = default;
    ActorKind(const ActorKind&) = delete;
    ActorKind& operator=(const ActorKind&) = delete;
};

}  // namespace pinstrike::actors
