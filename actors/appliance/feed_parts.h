// path: cold
//
// The objects of one feed, made from its config: ports, pollers, rings, cores, actors. No thread
// runs yet.
#pragma once

#include "actors/appliance/thread_loops.h"
#include "actors/core/core.h"
#include "actors/peer/peer_task.h"
#include "actors/poller/packet_tap.h"
#include "actors/poller/poller_task.h"
#include "actors/publish/publisher.h"
#include "actors/recorder/recorder_task.h"
#include "actors/recovery/recovery_task.h"
#include "actors/snapshot/snapshot_loader.h"
#include "actors/snapshot/snapshot_task.h"
#include "actors/snapshot/state_recovery.h"
#include "actors/threads/parking.h"
#include "actors/topology/feed_config.h"
#include "actors/topology/series_list.h"
#include "actors/topology/topology.h"
#include "config/problem.h"
#include "nic/capture/replay_start.h"
#include "nic/clock.h"
#include "nic/dpdk/log.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pinstrike::actors {

struct PollerThread {
    PollerConfig config;
    std::unique_ptr<PollerTask> task;
    std::unique_ptr<PollerSettings> settings;      ///< last offered to the poller
    std::optional<Consumer<TappedPacket>> tapped;  ///< nullopt: captures are replayed
    std::unique_ptr<ThreadControl> control = std::make_unique<ThreadControl>();
};

struct CoreThread {
    CoreConfig config;
    std::unique_ptr<Parking> waker;  ///< null if the core spins
    std::unique_ptr<Core> core;
    std::unique_ptr<ThreadControl> control = std::make_unique<ThreadControl>();
};

struct RecoveryThread {
    [[nodiscard]] bool runs() const { return task || peers || snapshots || loader || earlier; }

    std::unique_ptr<peer::StateExchange> exchange;  ///< null: no state is exchanged
    std::unique_ptr<peer::StateTransfer> transfer;  ///< null: no state is requested
    std::unique_ptr<peer::PeerTask> peers;          ///< null: no history, and no peer is asked
    std::unique_ptr<RecoveryTask> task;             ///< null: there is no recovery
    std::unique_ptr<SnapshotTask> snapshots;        ///< null: none are taken
    std::unique_ptr<SnapshotLoader> loader;         ///< null: no replay begins with a snapshot
    std::unique_ptr<StateRecovery> earlier;         ///< null: recorded state is not taken
    ThreadControl control;
};

struct RecorderThread {
    std::unique_ptr<RecorderTask> task;  ///< null: nothing is recorded
    ThreadControl control;
    ThreadControl compressor_control;
};

/// Who gets events of other threads than control; by default nobody.
struct FeedListeners {
    nic::dpdk::LogSink device;  ///< DPDK's messages, on any thread; empty: errors to standard error
    /// On the recovery thread.
    peer::PeerListener peer = [](const peer::PeerEvent& /*event*/) {};
    /// On the recorder's thread.
    RecorderListener recorder = [](RecorderNote /*note*/, const std::string& /*sentence*/) {};
    /// On the recovery thread.
    RecoveredListener recovered = [](bool /*recovered*/, const std::string& /*text*/) {};
};

struct FeedParts {
    explicit FeedParts(const FeedConfig& of) : config{of}, topology{plan_topology(of)} {}

    /// Whether captures are replayed; else the input is live.
    [[nodiscard]] bool replays() const;

    /// When packets of captures are due; unknown if the input is live or has no pace.
    [[nodiscard]] nic::DueTimes due() const;

    FeedConfig config;
    std::shared_ptr<nic::ReplayStart> replay_start = std::make_shared<nic::ReplayStart>();
    Topology topology;
    SeriesList series;  ///< the counts of the series map; the series have gone to the cores
    nic::Clock clock;
    std::unique_ptr<Publisher> publisher;  ///< null: nothing is published
    std::vector<PollerThread> pollers;
    std::vector<CoreThread> cores;
    RecoveryThread recovery;
    RecorderThread recorder;
    std::vector<std::string> remarks;  ///< what does not prevent the start
};

/// The numbers of a poller's lines.
[[nodiscard]] std::vector<std::uint16_t> line_numbers_of(const PollerTask& poller);

/// Opens the ports and makes all objects. Returns null and lists all problems if the config does
/// not fit this machine or a port cannot be opened.
[[nodiscard]] std::unique_ptr<FeedParts> make_parts(const FeedConfig& config, Problems& problems,
                                                    FeedListeners listeners);

}  // namespace pinstrike::actors
