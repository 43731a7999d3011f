// path: cold
//
// The life of one feed. One cold thread uses the appliance: it builds, starts, reads counters, and
// stops it.
//
// A stop always has this order: recovery stops sending requests; pollers stop receiving, and
// deliver held blocks and repairs; the recorder writes what they left; the cores, still running,
// empty the rings; the actors stop; then the account is read. So nothing received is left behind.
#pragma once

#include "actors/appliance/feed_parts.h"
#include "actors/appliance/give_settings.h"
#include "actors/appliance/thread_loops.h"
#include "actors/topology/reload_counts.h"
#include "config/problem.h"
#include "nic/port.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pinstrike::actors {

struct ControlCounts {
    ReloadCounters reloads;  ///< of the config
    Counter admin_untaken;   ///< connections that the admin socket could not accept
};

class Appliance {
  public:
    /// Null, with Problems, as make_parts(). No thread runs yet.
    [[nodiscard]] static std::unique_ptr<Appliance> build(const FeedConfig& config,
                                                          Problems& problems,
                                                          FeedListeners listeners = {});

    /// Stops the threads that run.
    ~Appliance();

    Appliance(const Appliance&) = delete;
    Appliance& operator=(const Appliance&) = delete;

    /// Starts the cores, waits until all their actors have started, then starts the pollers. The
    /// calling thread is the control thread. It moves to the config's control_cpu last, so that no
    /// hot thread inherits its CPU. The books take the recorded state while the feed runs.
    void start(RecordedState recorded = {});

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

    /// Control thread. As give_settings().
    [[nodiscard]] SettingsOutcome reload(const FeedConfig& config, std::int64_t within_ns,
                                         Problems& problems) {
        return give_settings(*parts_, config, within_ns, problems);
    }

    /// Counts of the control thread, which writes them.
    [[nodiscard]] ControlCounts& control_counts() { return control_counts_; }

    /// Resets the longest steps and the high-water marks of the rings, but not the totals.
    void clear_maxima();

    /// The actors of this kind on all cores. Data that not every thread may read must be read after
    /// stop().
    [[nodiscard]] std::vector<const Actor*> actors(std::string_view kind) const;

    // For metrics and people. Any cold thread may call these at any time: they return const
    // references to counters. No object is added or removed after build().

    [[nodiscard]] const FeedConfig& config() const { return parts_->config; }

    [[nodiscard]] const Topology& topology() const { return parts_->topology; }

    /// The counts of the series map; the series themselves have gone to the cores.
    [[nodiscard]] const SeriesList& series() const { return parts_->series; }

    [[nodiscard]] std::size_t pollers_count() const { return parts_->pollers.size(); }

    [[nodiscard]] PollerTask& poller(std::size_t i) { return *parts_->pollers[i].task; }

    /// Control thread. The tapped packets of a poller; null if captures are replayed.
    [[nodiscard]] Consumer<TappedPacket>* tapped(std::size_t poller) {
        auto& tapped = parts_->pollers[poller].tapped;
        return tapped ? &*tapped : nullptr;
    }

    [[nodiscard]] std::size_t cores_count() const { return parts_->cores.size(); }

    [[nodiscard]] const Core& core(std::size_t i) const { return *parts_->cores[i].core; }

    /// How often a core went to sleep; 0 for a core that spins.
    [[nodiscard]] std::uint64_t sleeps(std::size_t core) const;

    /// The system calls that the filter refused, for every poller, then for every core.
    [[nodiscard]] std::vector<RefusedCalls> refused_calls() const;

    /// Recovery, peers and snapshots, on one thread, and the recorder on another.
    struct RecoveryView {
        bool runs;                            ///< the recovery thread has something to do
        const RecoveryTask* task;             ///< null: there is no recovery
        const peer::PeerTask* peers;          ///< null: no history, and no peer is asked
        const peer::StateTransfer* transfer;  ///< null: no state is requested from a peer
        const SnapshotLoader* loader;         ///< null: no replay begins with a snapshot
        const StateRecovery* earlier;         ///< null: recorded state is not taken
        std::string_view failure;             ///< the error that ended the thread; empty: none did
        const RecorderTask* recorder;         ///< null: nothing is recorded
        std::string_view recorder_failure;
    };

    [[nodiscard]] RecoveryView recovery() const;

    /// Null if nothing is published.
    [[nodiscard]] const MemoryFile* published() const {
        return parts_->publisher ? &parts_->publisher->file() : nullptr;
    }

    [[nodiscard]] const nic::Clock& clock() const { return parts_->clock; }

    /// When packets of captures are due; unknown if the input is live or has no pace.
    [[nodiscard]] nic::DueTimes due() const { return parts_->due(); }

    /// Seconds since start(), until stop(). Any thread.
    [[nodiscard]] double seconds() const;

    /// Information that does not prevent the start: placements of threads, truncated captures.
    [[nodiscard]] std::vector<std::string> remarks() const;

  private:
    explicit Appliance(std::unique_ptr<FeedParts> parts) : parts_{std::move(parts)} {}

    const std::unique_ptr<FeedParts> parts_;
    ControlCounts control_counts_;
    bool running_ = false;
    bool control_misplaced_ = false;

    // Monotonic time; 0: not yet. The control thread writes, metrics requests read. Relaxed order
    // is enough, because no other data depends on these figures.
    std::atomic<std::int64_t> started_ns_{0};
    std::atomic<std::int64_t> stopped_ns_{0};
};

}  // namespace pinstrike::actors
