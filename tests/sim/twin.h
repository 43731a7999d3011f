// path: cold
//
// The other instance of a pair: it receives the same lines over its own links, keeps their last
// seconds, and answers this instance's requests for lost messages. Its history and both sides of
// the peer protocol are the real ones; only the connection between them is simulated: slow, in
// pieces of any size, and cut when the twin restarts. It may keep blocks with wrong numbers, line
// or bytes. If it sends state, it has a Host of its own, with pollers, cores and books.
#pragma once

#include "actors/core/state_record.h"
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

/// What crossed the connections between a host and its twin, counted by the simulation.
struct TwinTraffic {
    using Refusals = std::array<std::uint64_t, feed::Refusal_count>;

    std::uint64_t connections = 0;
    /// Why sessions refused a connection, and how they ended, as they say themselves.
    std::vector<actors::peer::PeerRefusal> client_why;
    std::vector<actors::peer::PeerRefusal> server_why;
    std::vector<actors::peer::SessionEnd> client_ends;
    std::vector<actors::peer::SessionEnd> server_ends;
    std::uint64_t requests = 0;   ///< that the client accepted
    std::uint64_t requested = 0;  ///< their messages
    Refusals refused_at_once{};   ///< requests that the client did not accept
    Refusals refused{};           ///< requests that failed later
    std::uint64_t finished = 0;   ///< requests
    std::uint64_t bytes = 0;      ///< of the blocks that it sent
    bool cut = false;             ///< some bytes did not arrive
    std::uint64_t state_requests = 0;
    std::uint64_t state_failed = 0;  ///< state requests that ended without all of the state
    std::uint64_t state_series = 0;  ///< states of series that arrived
    std::uint64_t state_wanted = 0;  ///< of these, those that arrived before the transfer ended
    std::uint64_t state_ended = 0;   ///< state requests that ended before the transfer
    std::uint64_t kept_bytes = 0;    ///< of the blocks given to its present history
};

class Twin final : public feed::RepairSource, public actors::peer::StateSource {
  public:
    /// `flights`: the packets of its own links, in order. All arguments must outlive it.
    Twin(const Plan& plan, const Truth& truth, std::span<const Flight> flights);
    ~Twin() override;

    /// Advances the true time; must be called before each step of recovery.
    void pass_to(std::int64_t true_ns);

    [[nodiscard]] std::string_view name() const override { return "twin"; }

    [[nodiscard]] std::optional<feed::Refusal> request(const feed::RepairRequest& request,
                                                       std::int64_t now_ns) override;
    void cancel(std::uint64_t id) override;
    std::size_t step(std::int64_t now_ns, feed::RepairAnswers& answers) override;

    /// The receiver of requested state, which must outlive the twin.
    void set_taker(actors::peer::StateTransfer& taker);

    [[nodiscard]] std::string_view peer() const override { return "twin"; }

    [[nodiscard]] bool request_state(const std::vector<std::uint16_t>& lines) override;

    /// As Host::keep_awake, for the host of the current run.
    void keep_awake(bool awake);

    /// The hosts that send state, one for each run of the twin.
    [[nodiscard]] const std::vector<std::unique_ptr<Host>>& lives() const { return lives_; }

    /// The line and place of a series' state that it sent.
    struct SentState {
        std::uint16_t line = 0;
        actors::CoveredPlace covered;
    };

    [[nodiscard]] std::span<const SentState> states_sent(const feed::SeriesKey& series) const;

    /// The latest state of any series of the line; null: none was sent.
    [[nodiscard]] const SentState* latest_state(std::uint16_t line) const;

    /// The repair blocks that it sent, in order; null: a block that OPRA never sent.
    [[nodiscard]] const std::vector<const Block*>& brought() const { return brought_; }

    /// Whether it sent another line's block as this line's. A block does not name its line, so no
    /// receiver can tell if number and time fit.
    [[nodiscard]] bool mixed_up(std::uint16_t line) const { return mixed_up_.contains(line); }

    /// Whether it sent this block as another line's.
    [[nodiscard]] bool misplaced(const Block& block) const { return misplaced_.contains(&block); }

    /// Whether its history has been given this block.
    [[nodiscard]] bool has(const Block& block) const { return kept_.contains(&block); }

    /// Its history has not removed any block.
    [[nodiscard]] bool keeps_all() const {
        return history_ && history_->counters().read(feed::HistoryCount::crowded) == 0 &&
               history_->counters().read(feed::HistoryCount::aged) == 0;
    }

    /// All that crossed its connections up to now.
    [[nodiscard]] TwinTraffic traffic() const;

    [[nodiscard]] const actors::peer::ClientCounters& client_counters() const {
        return client_counters_;
    }

    [[nodiscard]] const actors::peer::ServerCounters& server_counters() const {
        return server_counters_;
    }

    /// Null: it is down.
    [[nodiscard]] const feed::History* history() const { return history_.get(); }

    /// The number of blocks given to its present history.
    [[nodiscard]] std::size_t kept() const { return kept_.size(); }

    /// Whether all bytes sent on its connections have arrived.
    [[nodiscard]] bool all_arrived() const;

  private:
    struct Connection;
    class RepairLog;
    class StateLog;

    /// Bytes in transit, in order.
    struct Wire {
        std::deque<std::pair<std::int64_t, std::vector<std::byte>>> pieces;
        std::int64_t latest_ns = 0;
    };

    void start();
    void stop();
    void keep(const Flight& flight);
    void connect(std::int64_t now_ns);
    template <class Side>
    void send(Side& from, std::int64_t its_ns, Wire& over);
    [[nodiscard]] bool down() const;
    void add_ends(TwinTraffic& traffic) const;

    [[nodiscard]] Host* host() const { return lives_.empty() ? nullptr : lives_.back().get(); }

    const Plan& plan_;
    const TwinPlan& twin_;
    const Truth& truth_;
    std::span<const Flight> flights_;
    Random random_;
    std::size_t arrived_ = 0;
    std::vector<std::uint16_t> numbers_;
    std::unordered_set<const Block*> kept_;  ///< blocks given to the history
    std::unique_ptr<feed::History> history_;
    actors::peer::BlockReader read_block_;
    actors::peer::Identity here_;
    actors::peer::Identity there_;
    actors::peer::ClientCounters client_counters_;
    actors::peer::ServerCounters server_counters_;
    std::vector<std::unique_ptr<Plan>> plans_;  ///< the plans of its runs
    std::vector<std::unique_ptr<Host>> lives_;  ///< the hosts of its runs
    std::unique_ptr<StateLog> state_log_;       ///< null: no state is requested
    std::unique_ptr<Connection> connection_;
    bool cut_ = false;  ///< the next step closes the connection
    std::vector<const Block*> brought_;
    std::unordered_set<std::uint16_t> mixed_up_;  ///< lines
    std::unordered_set<const Block*> misplaced_;
    std::int64_t true_ns_ = 0;
    std::int64_t connect_ns_ = 0;
    TwinTraffic traffic_;
};

}  // namespace pinstrike::sim
