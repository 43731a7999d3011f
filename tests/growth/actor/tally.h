// path: hot
#pragma once

#include "actors/core/actor.h"
#include "actors/core/state_record.h"
#include "config/counter.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinstrike::actors {

struct TallyConfig {
    static constexpr std::string_view kind = "tally";
    std::size_t capacity = 1000;  ///< events that are kept
    std::string file;  ///< base of the name of the list of events, one file for each core
};

// clang-format off
#define PINSTRIKE_TALLY_COUNTS(ROW) \
    ROW(quotes, messages, "quotes that came") \
    ROW(taken_quotes, messages, "quotes that a peer had counted before") \
    ROW(given_states, series, "states given to peers")
// clang-format on

PINSTRIKE_ROWS(TallyCount, PINSTRIKE_TALLY_COUNTS)

inline constexpr ActorTable tally_counters{"a tally", "tally", TallyCount_rows};

/// Lists what its core delivers, and exchanges the number of quotes with peers, as the state of one
/// series for each core, whose strike is the core's index.
class Tally final : public Actor {
  public:
    explicit Tally(const TallyConfig& config) : config_(config) {
        seen_.reserve(config.capacity);  // tidy: allowed, at start
    }

    [[nodiscard]] std::string_view name() const override { return TallyConfig::kind; }

    void on_start(const CoreInfo& core) override {
        core_ = core.name;
        index_ = core.index;
    }

    void on_events(EventBatch batch) override;

    std::size_t on_idle() override { return answer(); }

    void on_timer(std::int64_t /*now_ns*/) override { answer(); }

    void on_stop() override;

    [[nodiscard]] std::vector<std::string_view> system_calls() const override {
        return {"openat", "write", "writev", "close", "fstat", "newfstatat"};
    }

    [[nodiscard]] std::vector<ActorFigures> figures() const override {
        return {{tally_counters,
                 {counters_.read(TallyCount::quotes), counters_.read(TallyCount::taken_quotes),
                  counters_.read(TallyCount::given_states)}}};
    }

    [[nodiscard]] std::vector<AccountRow> account_rows() const override {
        return {{"tallied_quotes", counters_.read(TallyCount::quotes)}};
    }

    bool join_transfer(bool /*takes*/, StateRings& rings) override {
        rings_.emplace(std::move(rings));
        return true;
    }

  private:
    std::size_t answer();
    void send(const StateRecord& record);

    TallyConfig config_;
    std::string core_;
    std::vector<feed::Event> seen_;
    std::uint16_t line_ = 0;                ///< the last quote's
    unsigned index_ = 0;                    ///< of the core
    std::array<std::uint64_t, 8> taken_{};  ///< by the giver's core; a repetition replaces it
    Counters<TallyCount, TallyCount_count> counters_;
    std::optional<StateRings> rings_;
};

}  // namespace pinstrike::actors
