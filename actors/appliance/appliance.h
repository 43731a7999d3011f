// path: cold
//
// The objects of one feed, built from its config: ports, pollers, rings, cores, actors. One cold
// thread uses the appliance: it builds, starts, reads counters, and stops it.
//
// A stop always has this order: recovery stops sending requests; pollers stop receiving, and
// deliver held blocks and repairs; the cores, still running, empty the rings; the actors stop; then
// the account is read. So nothing received is left behind.
#pragma once

#include "actors/appliance/thread_loops.h"
#include "actors/book/transfer/state_record.h"
#include "actors/core/core.h"
#include "actors/peer/peer_task.h"
#include "actors/poller/packet_tap.h"
#include "actors/poller/poller_task.h"
#include "actors/publish/publisher.h"
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

struct ControlCounts {
    ReloadCounters reloads;  ///< of the config
    Counter admin_untaken;   ///< connections that the admin socket could not accept
};

class Appliance {
  public:
    /// Opens the ports and makes all objects; no thread runs yet. Returns null and lists all
    /// problems if the config does not fit this machine or a port cannot be opened. `device_log`
    /// gets DPDK's messages, on any thread; if it is empty, DPDK's errors go to standard error.
    /// `peer_log` gets events of peers, on the recovery thread.
    [[nodiscard]] static std::unique_ptr<Appliance> build(const FeedConfig& config,
                                                          Problems& problems,
                                                          nic::dpdk::LogSink device_log = {},
                                                          peer::PeerListener peer_log = {});

    /// Stops the threads that run.
    ~Appliance();

    Appliance(const Appliance&) = delete;
    Appliance& operator=(const Appliance&) = delete;

    /// Starts the cores, waits until all their actors have started, then starts the pollers. The
    /// calling thread is the control thread. It moves to the config's control_cpu last, so that no
    /// hot thread inherits its CPU.
    void start();

    /// Whether every poller has reached the end of its input.
    [[nodiscard]] bool input_ended() const;

    /// Begins the stop: no poller of captures reads further. False if after `within_ns` one of them
    /// is still blocked in a read, for which stop() would wait. True for live ports, which never
    /// block.
    [[nodiscard]] bool pollers_end_within(std::int64_t within_ns);

    /// Stops everything in order. Returns when all threads have ended.
    void stop();

    /// A port whose network interface was replaced.
    struct ChangedPort {
        std::string name;
        nic::InterfaceChange change;
    };

    /// To be called about once a second, by the control thread. Corrects the clock and reopens
    /// interfaces that were created again. Returns the ports with such changes.
    std::vector<ChangedPort> housekeep();

    /// Control thread. Gives every poller the thresholds, filters and added lines of a config that
    /// has no other changes. False, with the reasons: nothing was changed, or a poller has not
    /// adopted its settings within `within_ns` and will do so when it continues.
    bool give_settings(const FeedConfig& config, std::int64_t within_ns, Problems& problems);

    /// Counts of the control thread, which writes them.
    [[nodiscard]] ControlCounts& control_counts() { return control_counts_; }

    /// Resets the longest steps and the high-water marks of the rings, but not the totals.
    void clear_maxima();

    /// The actors of this kind on all cores. Data that not every thread may read must be read after
    /// stop().
    [[nodiscard]] std::vector<const Actor*> actors(std::string_view kind) const;

    // For metrics and people. Any cold thread may call these at any time: they return const
    // references to counters. No object is added or removed after build().

    [[nodiscard]] const FeedConfig& config() const { return config_; }

    [[nodiscard]] const Topology& topology() const { return topology_; }

    /// The counts of the series map; the series themselves have gone to the cores.
    [[nodiscard]] const SeriesList& series() const { return series_; }

    [[nodiscard]] std::size_t pollers_count() const { return pollers_.size(); }

    [[nodiscard]] PollerTask& poller(std::size_t i) { return *pollers_[i].task; }

    /// Control thread. The tapped packets of a poller; null if captures are replayed.
    [[nodiscard]] Consumer<TappedPacket>* tapped(std::size_t poller) {
        return pollers_[poller].tapped ? &*pollers_[poller].tapped : nullptr;
    }

    [[nodiscard]] std::size_t cores_count() const { return cores_.size(); }

    [[nodiscard]] const Core& core(std::size_t i) const { return *cores_[i].core; }

    /// How often a core went to sleep; 0 for a core that spins.
    [[nodiscard]] std::uint64_t sleeps(std::size_t core) const;

    /// The system calls that the filter refused, for every poller, then for every core.
    [[nodiscard]] std::vector<RefusedCalls> refused_calls() const;

    /// Null if there is no recovery.
    [[nodiscard]] const RecoveryTask* recovery() const { return recovery_.task.get(); }

    /// Any thread. Why the thread of recovery and peers ended by itself; empty: it did not.
    [[nodiscard]] std::string_view recovery_failure() const;

    /// Null if no state is requested from a peer.
    [[nodiscard]] const peer::StateTransfer* state_transfer() const {
        return recovery_.transfer.get();
    }

    /// Null if nothing is published.
    [[nodiscard]] const MemoryFile* published() const {
        return publisher_ ? &publisher_->file() : nullptr;
    }

    /// Null if no history is kept and no peer is asked.
    [[nodiscard]] const peer::PeerTask* peers() const { return recovery_.peers.get(); }

    [[nodiscard]] const nic::Clock& clock() const { return clock_; }

    /// When packets of captures are due; unknown if the input is live or has no pace.
    [[nodiscard]] nic::DueTimes due() const;

    /// Seconds since start(), until stop(). Any thread.
    [[nodiscard]] double seconds() const;

    /// Information that does not prevent the start: placements of threads, truncated captures.
    [[nodiscard]] std::vector<std::string> remarks() const;

  private:
    struct PollerThread {
        PollerConfig config;
        std::unique_ptr<PollerTask> task;
        std::unique_ptr<PollerSettings> settings;      ///< last offered to the poller
        std::optional<Consumer<TappedPacket>> tapped;  ///< nullopt: captures are replayed
        std::unique_ptr<ThreadControl> control = std::make_unique<ThreadControl>();
        std::thread thread;
    };

    struct CoreThread {
        CoreConfig config;
        std::unique_ptr<Parking> bell;  ///< null if the core spins
        std::unique_ptr<Core> core;
        std::unique_ptr<ThreadControl> control = std::make_unique<ThreadControl>();
        std::thread thread;
    };

    struct RecoveryThread {
        [[nodiscard]] bool runs() const { return task || peers; }

        std::unique_ptr<peer::StateExchange> exchange;  ///< null: no state is exchanged
        std::unique_ptr<peer::StateTransfer> transfer;  ///< null: no state is requested
        std::unique_ptr<peer::PeerTask> peers;          ///< null: no history, and no peer is asked
        std::unique_ptr<RecoveryTask> task;             ///< null: there is no recovery
        ThreadControl control;
        std::thread thread;
    };

    explicit Appliance(const FeedConfig& config);

    using QueuesByPort = std::vector<std::vector<std::unique_ptr<nic::Port>>>;

    bool check(Problems& problems);
    bool read_series(Problems& problems);
    bool open_ports(QueuesByPort& queues, nic::dpdk::LogSink device_log, Problems& problems);
    bool open_peers(peer::PeerListener listener, Problems& problems);
    void make_state_exchange(const peer::PeerListener& listener);
    void make_threads(QueuesByPort queues);
    void make_pollers(QueuesByPort queues, std::vector<std::vector<Consumer<feed::Event>>>& inputs,
                      const std::vector<Parking*>& core_wakers);
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
    std::unique_ptr<Publisher> publisher_;  ///< null: nothing is published
    std::vector<PollerThread> pollers_;
    std::vector<CoreThread> cores_;
    RecoveryThread recovery_;
    std::vector<std::optional<StateRings>>
        state_rings_;  ///< by core; nullopt once its actor has taken it
    std::vector<std::string> remarks_;
    ControlCounts control_counts_;
    bool running_ = false;
    bool control_misplaced_ = false;

    // Monotonic time; 0: not yet. The control thread writes, metrics requests read. Relaxed order
    // is enough, because no other data depends on these figures.
    std::atomic<std::int64_t> started_ns_{0};
    std::atomic<std::int64_t> stopped_ns_{0};
};

}  // namespace pinstrike::actors
