// path: cold
//
// Everything of one feed, built from its config: ports, pollers, rings, cores, actors. Used from
// one cold thread: build, start, look now and then, stop.
//
// The order of an end, whatever brings it: recovery asks for nothing more; pollers stop receiving
// and pass on what they hold and what recovery brought; the cores, still running, empty the rings;
// then the actors stop; then the account is read. So nothing received is left behind.
#pragma once

#include "actors/appliance/thread_loops.h"
#include "actors/book/transfer/state_record.h"
#include "actors/core/core.h"
#include "actors/peer/peer_task.h"
#include "actors/poller/packet_tap.h"
#include "actors/poller/poller_task.h"
#include "actors/recovery/recovery_task.h"
#include "actors/threads/parking.h"
#include "actors/topology/feed_config.h"
#include "actors/topology/reload_counts.h"
#include "actors/topology/series_list.h"
#include "actors/topology/topology.h"
#include "config/problem.h"
#include "nic/capture/replay_start.h"
#include "nic/clock.h"
#include "nic/dpdk/log.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace pinstrike::actors {

class Appliance {
  public:
    /// Opens the ports and makes everything; no thread runs yet. Null, with every problem told, if
    /// the config does not fit this machine or a port cannot be opened. `device_log` takes what
    /// DPDK says, from any thread; without one, its errors go to standard error. `peer_log` takes
    /// what is to be told of peers, from the recovery thread.
    [[nodiscard]] static std::unique_ptr<Appliance> build(const FeedConfig& config,
                                                          Problems& problems,
                                                          nic::dpdk::LogSink device_log = {},
                                                          peer::PeerListener peer_log = {});

    /// Stops what runs.
    ~Appliance();

    Appliance(const Appliance&) = delete;
    Appliance& operator=(const Appliance&) = delete;

    /// Starts the cores, waits until all their actors have started, then starts the pollers. The
    /// calling thread is the control thread: it goes to the config's control_cpu last of all, so
    /// that no hot thread inherits its place.
    void start();

    /// Has every poller come to the end of its input?
    [[nodiscard]] bool input_ended() const;

    /// Begins the end: no poller of captures takes more. False: after `within_ns` one is still held
    /// up, in a read that does not come back; stop() would wait for it. True for live ports, which
    /// never wait.
    [[nodiscard]] bool pollers_end_within(std::int64_t within_ns);

    /// Ends everything, in order; returns when all threads have ended.
    void stop();

    /// A port whose interface is another one than before.
    struct ChangedPort {
        std::string name;
        nic::InterfaceChange change;
    };

    /// About once a second, from the control thread: keeps the clock true, and follows interfaces
    /// that were made anew. Returns what it found of these.
    std::vector<ChangedPort> housekeep();

    /// Thresholds and filters of a config that differs in nothing else, but that it has more lines:
    /// every poller gets its own. Control thread. False, with the reasons: nothing is changed; or a
    /// poller has not taken it within `within_ns`, and will when it goes on.
    bool give_settings(const FeedConfig& config, std::int64_t within_ns, Problems& problems);

    /// Of the config's reloads; the control thread counts.
    [[nodiscard]] ReloadCounters& reloads() { return reloads_; }

    /// Longest steps and fullest rings begin anew; totals do not.
    void clear_maxima();

    /// Those of all cores. What is not for any thread is to be read after stop().
    [[nodiscard]] std::vector<const Actor*> actors(std::string_view kind) const;

    // Views for metrics and people, at any time from any cold thread: counters behind const
    // references. Nothing here is added or taken away after build().

    [[nodiscard]] const FeedConfig& config() const { return config_; }

    [[nodiscard]] const Topology& topology() const { return topology_; }

    /// What the day's file announced; the series themselves have gone to the cores.
    [[nodiscard]] const SeriesList& series() const { return series_; }

    [[nodiscard]] std::size_t pollers_count() const { return pollers_.size(); }

    [[nodiscard]] PollerTask& poller(std::size_t i) { return *pollers_[i].task; }

    /// What is tapped of the poller's packets comes out here; null where captures are replayed.
    /// Control thread.
    [[nodiscard]] Consumer<TappedPacket>* tapped(std::size_t poller) {
        return pollers_[poller].tapped ? &*pollers_[poller].tapped : nullptr;
    }

    [[nodiscard]] std::size_t cores_count() const { return cores_.size(); }

    [[nodiscard]] const Core& core(std::size_t i) const { return *cores_[i].core; }

    /// Times that a core went to sleep; nothing for one that spins.
    [[nodiscard]] std::uint64_t sleeps(std::size_t core) const;

    /// Of every poller, then of every core: what the kernel was asked for and did not do.
    [[nodiscard]] std::vector<RefusedCalls> refused_calls() const;

    /// Null where there is none.
    [[nodiscard]] const RecoveryTask* recovery() const { return recovery_.task.get(); }

    /// Has the thread of recovery and peers ended by itself? Why; empty: no. Any thread.
    [[nodiscard]] std::string_view recovery_failure() const;

    /// Null where no state is taken from a peer.
    [[nodiscard]] const peer::StateTransfer* state_transfer() const {
        return recovery_.transfer.get();
    }

    /// Null where nothing is kept and nobody is asked.
    [[nodiscard]] const peer::PeerTask* peers() const { return recovery_.peers.get(); }

    [[nodiscard]] const nic::Clock& clock() const { return clock_; }

    /// When captures' packets are due; unknown where the input is live or has no pace.
    [[nodiscard]] nic::DueTimes due() const;

    /// Since start(), until stop(). Any thread.
    [[nodiscard]] double seconds() const;

    /// What a person should know though it stops nothing: placements, captures cut short.
    [[nodiscard]] std::vector<std::string> remarks() const;

  private:
    struct PollerThread {
        PollerConfig config;
        std::unique_ptr<PollerTask> task;
        std::unique_ptr<PollerSettings> settings;      ///< offered last
        std::optional<Consumer<TappedPacket>> tapped;  ///< none: captures are replayed
        std::unique_ptr<ThreadControl> control = std::make_unique<ThreadControl>();
        std::thread thread;
    };

    struct CoreThread {
        CoreConfig config;
        std::unique_ptr<Parking> bell;  ///< null where the core spins
        std::unique_ptr<Core> core;
        std::unique_ptr<ThreadControl> control = std::make_unique<ThreadControl>();
        std::thread thread;
    };

    struct RecoveryThread {
        [[nodiscard]] bool runs() const { return task || peers; }

        std::unique_ptr<peer::StateExchange> exchange;  ///< null: state goes nowhere
        std::unique_ptr<peer::StateTransfer> transfer;  ///< null: none is taken
        std::unique_ptr<peer::PeerTask> peers;  ///< null: nothing is kept, and nobody is asked
        std::unique_ptr<RecoveryTask> task;     ///< null: there is no recovery
        ThreadControl control;
        std::thread thread;
    };

    explicit Appliance(const FeedConfig& config);

    using QueuesByPort = std::vector<std::vector<std::unique_ptr<nic::Port>>>;

    bool check(Problems& problems);
    bool read_series(Problems& problems);
    bool open_ports(QueuesByPort& queues, nic::dpdk::LogSink device_log, Problems& problems);
    bool open_peers(peer::PeerListener tell, Problems& problems);
    void make_state_exchange(const peer::PeerListener& tell);
    void make_threads(QueuesByPort queues);
    void make_pollers(QueuesByPort queues, std::vector<std::vector<Consumer<feed::Event>>>& inputs,
                      const std::vector<Parking*>& bells);
    [[nodiscard]] PollerSetup poller_setup(std::size_t index, QueuesByPort& queues) const;
    [[nodiscard]] std::unique_ptr<MoreLines> more_lines(const FeedConfig& config,
                                                        std::size_t poller,
                                                        Problems& problems) const;
    void finish_recovery();
    [[nodiscard]] bool settings_taken(std::int64_t within_ns) const;
    [[nodiscard]] bool replays() const;
    [[nodiscard]] bool filters_calls() const;

    FeedConfig config_;
    std::shared_ptr<nic::ReplayStart> replay_start_ = std::make_shared<nic::ReplayStart>();
    Topology topology_;
    SeriesList series_;
    nic::Clock clock_;
    LineHours hours_;
    std::vector<PollerThread> pollers_;
    std::vector<CoreThread> cores_;
    RecoveryThread recovery_;
    std::vector<std::optional<StateRings>> state_rings_;  ///< by core, until its actor has them
    std::vector<std::string> remarks_;
    ReloadCounters reloads_;
    bool running_ = false;
    bool control_misplaced_ = false;

    // Monotonic; 0: not yet. Written by the control thread, read by scrapes; figures and no more:
    // nobody concludes from them what else has happened, so relaxed is enough.
    std::atomic<std::int64_t> started_ns_{0};
    std::atomic<std::int64_t> stopped_ns_{0};
};

}  // namespace pinstrike::actors
