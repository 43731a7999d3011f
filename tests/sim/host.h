// path: cold
//
// The appliance without threads: real pollers, rings, cores and actors, which one thread steps in
// simulated time, in an order and at a pace drawn from the seed.
#pragma once

#include "actors/book/book.h"
#include "actors/core/actor.h"
#include "actors/core/core.h"
#include "actors/peer/peer_task.h"
#include "actors/peer/state_exchange.h"
#include "actors/peer/state_transfer.h"
#include "actors/poller/history_ring.h"
#include "actors/poller/poller_task.h"
#include "actors/recovery/recovery_task.h"
#include "actors/telemetry/counter_snapshot.h"
#include "tests/sim/link_port.h"
#include "tests/sim/packet_log.h"
#include "tests/sim/plan.h"
#include "tests/sim/twin.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace pinstrike::sim {

/// An actor that keeps every record that its core got.
class Recorder final : public actors::Actor {
  public:
    [[nodiscard]] std::string_view name() const override { return "recorder"; }

    void on_events(actors::EventBatch batch) override {
        records_.insert(records_.end(), batch.records().begin(), batch.records().end());
    }

    void on_timer(std::int64_t /*now_ns*/) override { timers_.mark(); }

    /// Called before each step of its core.
    void begin_step(std::int64_t true_ns) { timers_.step(true_ns); }

    [[nodiscard]] const std::vector<feed::Event>& records() const { return records_; }

    [[nodiscard]] const IntervalMonitor& timers() const { return timers_; }

  private:
    std::vector<feed::Event> records_;
    IntervalMonitor timers_;
};

class Host {
  public:
    /// `twin`: the source of repairs; null: no recovery.
    Host(const Plan& plan, std::unique_ptr<Twin> twin);

    /// Runs to the end. `flights` are in the order of their arrival.
    void run(std::span<const Flight> flights);

    /// Instead of run(): starts, and runs up to a time.
    void begin(std::span<const Flight> flights);
    void run_until(std::int64_t until_ns);

    /// While set, the host keeps its short steps at night, to answer requests.
    void keep_awake(bool awake) { awake_ = awake; }

    /// The access to the books' state; null: no state is exchanged.
    [[nodiscard]] actors::peer::StateExchange* exchange() { return exchange_.get(); }

    // After run().

    [[nodiscard]] const std::vector<std::unique_ptr<ReceiveLog>>& receive_logs() const {
        return receive_logs_;
    }

    /// The poller that has the line of this index.
    [[nodiscard]] std::size_t poller_of(std::size_t line) const { return line % pollers_.size(); }

    [[nodiscard]] actors::PollerTask& poller(std::size_t i) { return *pollers_[i].task; }

    [[nodiscard]] std::size_t cores_count() const { return cores_.size(); }

    [[nodiscard]] const actors::Core& core(std::size_t i) const { return *cores_[i].core; }

    [[nodiscard]] const actors::Book& book(std::size_t i) const { return *cores_[i].book; }

    /// The number of series for which each book has memory.
    [[nodiscard]] std::size_t series_share() const { return series_share_; }

    [[nodiscard]] const Recorder& recorder(std::size_t i) const { return *cores_[i].recorder; }

    /// The number of records that the recorder had when the end of the host began. If the host had
    /// enough time (had_time_to_flush), all events must have come by then.
    [[nodiscard]] std::size_t records_before_end(std::size_t core) const {
        return cores_[core].records_before_end;
    }

    [[nodiscard]] bool had_time_to_flush() const { return plan_.host.stop_after_ns == 0; }

    /// The pollers and cores, as the account needs them.
    [[nodiscard]] actors::CounterSnapshot counters();

    /// The blocks that the twin sent.
    [[nodiscard]] std::span<const Block* const> repairs() const;

    [[nodiscard]] const Twin* twin() const { return twin_; }

    /// Null: there is no twin.
    [[nodiscard]] const actors::RecoveryTask* recovery() const { return recovery_.get(); }

    /// Null: no state is copied.
    [[nodiscard]] const actors::peer::StateTransfer* transfer() const { return transfer_.get(); }

    /// The history for peers; null: none is kept.
    [[nodiscard]] feed::History* history() {
        return keeper_ == nullptr ? nullptr : keeper_->history();
    }

    /// Packets that found a port's queue full.
    [[nodiscard]] std::uint64_t missed() const;

    // Start and present, in true time.

    [[nodiscard]] std::int64_t begin_ns() const { return begin_ns_; }

    [[nodiscard]] std::int64_t now_ns() const { return now_ns_; }

  private:
    static constexpr std::size_t nics_count = 2;

    struct Poller {
        std::unique_ptr<actors::PollerTask> task;
        std::vector<LinkPort*> ports;  ///< a queue of each NIC
        std::vector<const Flight*> flights;
        std::size_t arrived = 0;  ///< number of flights that have arrived
        std::int64_t next_ns = 0;
    };

    struct Core {
        std::unique_ptr<actors::Core> core;
        const actors::Book* book = nullptr;
        Recorder* recorder = nullptr;
        std::int64_t next_ns = 0;
        std::size_t records_before_end = 0;
    };

    void make_cores(std::vector<std::vector<actors::Consumer<feed::Event>>> inputs);
    void make_poller(std::size_t index, std::vector<actors::Producer<feed::Event>> outputs);
    void make_state_exchange(std::vector<std::optional<actors::StateRings>> state_rings);
    void make_recovery(std::unique_ptr<Twin> twin);
    [[nodiscard]] std::unique_ptr<actors::HistoryRingWriter> make_history_ring(
        std::vector<std::uint16_t> lines);
    void make_keeper();
    [[nodiscard]] std::int64_t program_ns(std::int64_t true_ns) const;
    [[nodiscard]] std::size_t nic_of(const Flight& flight) const;
    void bring_until(std::int64_t true_ns);
    void step(Poller& poller, std::size_t index);
    void step(Core& core, std::size_t index);
    void step_recovery();
    void step_keeper();
    std::int64_t* step_next(std::int64_t until_ns);
    [[nodiscard]] std::int64_t next_arrival_ns() const;
    [[nodiscard]] bool calm() const;
    [[nodiscard]] bool quiet() const;
    void end();

    const Plan& plan_;
    Random random_;
    Random random_of_keeper_;  ///< separate, so that the keeper does not change the rest of a seed
    std::vector<std::unique_ptr<ReceiveLog>> receive_logs_;
    std::vector<Poller> pollers_;
    std::vector<Core> cores_;
    std::size_t series_share_ = 0;
    std::vector<actors::RecoveryRepairRings> repair_rings_;  ///< until recovery takes them
    std::unique_ptr<actors::peer::StateExchange> exchange_;
    std::unique_ptr<actors::peer::StateTransfer> transfer_;
    Twin* twin_ = nullptr;
    std::unique_ptr<actors::RecoveryTask> recovery_;
    std::int64_t recovery_next_ns_ = std::numeric_limits<std::int64_t>::max();
    std::vector<actors::HistoryRingReader> history_rings_;  ///< until the keeper takes them
    std::unique_ptr<actors::peer::PeerTask> keeper_;
    std::int64_t keeper_next_ns_ = std::numeric_limits<std::int64_t>::max();
    std::int64_t traffic_ns_;  ///< start of the traffic: times of the plan count from here
    std::int64_t begin_ns_;
    std::int64_t now_ns_;          ///< true time
    std::int64_t brought_ns_ = 0;  ///< arrival of the latest packet
    std::int64_t last_ns_ = 0;     ///< arrival of the last packet of the run
    bool awake_ = false;
};

}  // namespace pinstrike::sim
