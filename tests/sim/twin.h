// path: cold
//
// The other instance of a pair: it hears the same lines over links of its own, keeps their last
// seconds, and is asked for what this one lost. Its history and both ends of the peer protocol are
// the real ones; only the connection between them is simulated: slow, in pieces of any size, and
// cut when the twin restarts. It may lie: keep blocks under numbers that are not theirs. Where its
// series' state is wanted, it is a host of its own, with pollers, cores and books.
#pragma once

#include "actors/book/transfer/state_record.h"
#include "actors/peer/block_reader.h"
#include "actors/peer/client_session.h"
#include "actors/peer/server_session.h"
#include "actors/peer/state_transfer.h"
#include "feed/event/series_key.h"
#include "feed/recovery/history.h"
#include "feed/recovery/repair.h"
#include "tests/sim/link.h"
#include "tests/sim/plan.h"
#include "tests/sim/truth.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace pinstrike::sim {

class Host;

class Twin final : public feed::RepairSource, public actors::peer::StateSource {
  public:
    /// `flights`: what its own links bring it, in order. All outlive it.
    Twin(const Plan& plan, const Truth& truth, std::span<const Flight> flights);
    ~Twin() override;

    /// The true time goes on; before each step of recovery.
    void pass_to(std::int64_t true_ns);

    [[nodiscard]] std::string_view name() const override { return "twin"; }

    [[nodiscard]] std::optional<feed::Refusal> request(const feed::RepairRequest& request,
                                                       std::int64_t now_ns) override;
    void cancel(std::uint64_t id) override;
    std::size_t step(std::int64_t now_ns, feed::RepairAnswers& answers) override;

    /// Who is told of the state that is asked for, and outlives it.
    void set_taker(actors::peer::StateTaker& taker);

    [[nodiscard]] std::string_view peer() const override { return "twin"; }

    [[nodiscard]] bool request_state(const std::vector<std::uint16_t>& lines) override;

    /// As Host::keep_awake, of the life that it has.
    void keep_awake(bool awake);

    /// As hosts that give state: one for each time that it was started.
    [[nodiscard]] const std::vector<std::unique_ptr<Host>>& lives() const { return lives_; }

    /// How far what it said of a series went, each time that it said something.
    struct Said {
        std::uint16_t line = 0;
        actors::CoveredPlace covered;
    };

    [[nodiscard]] std::span<const Said> said_of(const feed::SeriesKey& series) const;

    /// The latest of any series of the line; nullptr: it said nothing of it.
    [[nodiscard]] const Said* latest_of(std::uint16_t line) const;

    /// What it brought, each block once for each time; null: a block that OPRA never sent.
    [[nodiscard]] const std::vector<const Block*>& brought() const { return brought_; }

    /// Whether it passed a block of another line off as this line's: a block does not say of which
    /// line it is, so nobody could tell where number and time fit.
    [[nodiscard]] bool mixed_up(std::uint16_t line) const { return mixed_up_.contains(line); }

    /// Whether it passed this block off as another line's.
    [[nodiscard]] bool misplaced(const Block& block) const { return misplaced_.contains(&block); }

    /// Has it this block, and could it be had of it?
    [[nodiscard]] bool has(const Block& block) const { return kept_.contains(&block); }

    /// Nothing was let go before its time.
    [[nodiscard]] bool keeps_all() const {
        return history_ && history_->counters().read(feed::HistoryCount::crowded) == 0 &&
               history_->counters().read(feed::HistoryCount::aged) == 0;
    }

    [[nodiscard]] std::uint64_t restarts() const { return restarts_; }

  private:
    struct Connection;
    class Offers;
    class States;

    /// Bytes on their way, in order.
    struct Wire {
        std::deque<std::pair<std::int64_t, std::vector<std::byte>>> pieces;
        std::int64_t latest_ns = 0;
    };

    void start();
    void stop();
    void keep(const Flight& flight);
    void connect(std::int64_t now_ns);
    template <class Session>
    void send(Session& from, std::int64_t its_ns, Wire& over);
    [[nodiscard]] bool down() const;

    [[nodiscard]] Host* host() const { return lives_.empty() ? nullptr : lives_.back().get(); }

    const Plan& plan_;
    const TwinPlan& twin_;
    const Truth& truth_;
    std::span<const Flight> flights_;
    Random random_;
    std::size_t arrived_ = 0;
    std::vector<std::uint16_t> numbers_;
    std::unordered_set<const Block*> kept_;  ///< one copy of each
    std::unique_ptr<feed::History> history_;
    actors::peer::BlockReader read_block_;
    actors::peer::Identity here_;
    actors::peer::Identity there_;
    actors::peer::ClientCounters client_counters_;
    actors::peer::ServerCounters server_counters_;
    std::vector<std::unique_ptr<Plan>> plans_;  ///< of its lives
    std::vector<std::unique_ptr<Host>> lives_;
    std::unique_ptr<States> states_;  ///< null: no state is asked for
    std::unique_ptr<Connection> connection_;
    bool cut_ = false;  ///< the connection is to be closed at the next step
    std::vector<const Block*> brought_;
    std::unordered_set<std::uint16_t> mixed_up_;  ///< lines
    std::unordered_set<const Block*> misplaced_;
    std::int64_t true_ns_ = 0;
    std::int64_t connect_ns_ = 0;
    std::uint64_t restarts_ = 0;
};

}  // namespace pinstrike::sim
