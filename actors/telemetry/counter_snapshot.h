// path: cold
//
// A snapshot of all counters of an appliance: totals since the start. Log, metrics, live view,
// admin views, service status, latency reports and account are functions of these plain values, so
// tests can write them by hand. Nothing else of telemetry reads the counters.
//
// The simulation and tests have pollers and cores without an appliance, so the snapshot of one
// poller or core can be taken on its own.
#pragma once

#include "actors/appliance/thread_loops.h"
#include "actors/core/actor_report.h"
#include "actors/core/core.h"
#include "actors/peer/client.h"
#include "actors/peer/server.h"
#include "actors/peer/state_transfer.h"
#include "actors/poller/router.h"
#include "actors/poller/unknown_groups.h"
#include "actors/recorder/recorder_counts.h"
#include "actors/topology/reload_counts.h"
#include "actors/topology/series_list.h"
#include "config/counter.h"
#include "config/histogram.h"
#include "config/rows.h"
#include "feed/arbitration/line_counts.h"
#include "feed/lines/line_watch.h"
#include "feed/recovery/history.h"
#include "feed/recovery/recovery.h"
#include "nic/packet/drops.h"
#include "nic/port.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace pinstrike::actors {

class Appliance;
class PollerTask;

using StreamTotals = RowTotals<feed::StreamCount, feed::StreamCount_count>;
using LineTotals = RowTotals<feed::LineCount, feed::LineCount_count>;
using PortTotals = RowTotals<nic::PortCount, nic::PortCount_count>;
using RingTotals = RowTotals<RingCount, RingCount_count>;
using CoreTotals = RowTotals<CoreCount, CoreCount_count>;
using RecoveryTotals = RowTotals<feed::RecoveryCount, feed::RecoveryCount_count>;
using RefusalTotals = RowTotals<feed::Refusal, feed::Refusal_count>;
using PeerRefusalTotals = RowTotals<peer::PeerRefusal, peer::PeerRefusal_count>;
using SessionEndTotals = RowTotals<peer::SessionEnd, peer::SessionEnd_count>;

/// A receive queue of a port.
struct QueueSnapshot {
    std::string name;  ///< of a port with several queues: port/number
    std::string port;
    std::size_t burst_packets = 64;
    PortTotals counts;
    std::uint64_t to_lines = 0;  ///< packets routed to lines
    nic::DeviceStatistics device;
    RowTotals<nic::Drop, nic::Drop_count> dropped;
    std::vector<UnknownGroup> unknown_groups;  ///< the most frequent destinations without a line
    bool replays = false;                      ///< it reads captures
    bool exhausted = false;  ///< no more packets come; only of a stopped appliance
    /// What it did not read of its captures, in sentences; only of a stopped appliance.
    std::vector<std::string> unread;
};

struct LineSnapshot {
    std::uint16_t line = 0;
    LineTotals counts;
    std::uint64_t left_out = 0;  ///< numbers that a cut of a recording left out
    /// Messages between the recording before the start and the first one since; nullopt: unknown.
    std::optional<std::uint64_t> missed_before_start;
    std::array<StreamTotals, feed::streams_count> streams;
    std::array<Histogram::Snapshot, feed::streams_count> skews;  ///< stream skew, sampled
    std::array<feed::LineState, feed::streams_count> states{};
    std::array<std::int64_t, feed::streams_count> heard_ns{};  ///< wall time of the latest packet
    feed::StreamsReceived received = feed::both_streams;
    bool up = false;       ///< not down, and at least one packet was received
    bool down = false;     ///< both streams are silent during the session
    bool watched = false;  ///< silence counts at present
    std::uint64_t retransmission_packets = 0;
    /// Numbers declared lost and not found, first and last; only of a stopped appliance.
    std::vector<std::pair<std::uint64_t, std::uint64_t>> gaps;
    std::vector<std::uint64_t> rejected;  ///< by row of PollerSnapshot::reject_rows
};

/// The loop of a poll or actor thread.
struct LoopSnapshot {
    std::uint64_t steps = 0;
    std::uint64_t busy_ns = 0;
    std::uint64_t idle_ns = 0;
    std::uint64_t longest_step_ns = 0;
    Histogram::Snapshot not_empty;    ///< steps with work, timers, sleep or preemption
    Histogram::Snapshot preemptions;  ///< their durations
};

/// The latency of a stage at one thread.
struct StageSnapshot {
    Histogram::Snapshot all;
    Histogram::Snapshot preempted;  ///< those that overlap a preemption or its backlog
};

/// A ring from a poller to a core.
struct RingSnapshot {
    std::string from;  ///< poller
    std::string to;    ///< core
    std::size_t capacity_records = 0;
    std::uint64_t high_water_records = 0;
    RingTotals counts{};
    std::uint64_t published_records = 0;  ///< of messages and broadcasts
};

struct PollerSnapshot : LoopSnapshot {
    std::string name;
    CpuIndex cpu = -1;
    StageSnapshot exchange_to_decoded;
    std::span<const Row> reject_rows;
    std::vector<QueueSnapshot> queues;
    std::vector<LineSnapshot> lines;
    std::vector<RingSnapshot> rings;               ///< by core
    std::optional<std::uint64_t> notes_dropped;    ///< for recovery; nullopt: there is none
    std::uint64_t repairs_taken = 0;               ///< blocks from recovery
    std::optional<std::uint64_t> history_skipped;  ///< blocks; nullopt: no history
    std::uint64_t recorded = 0;      ///< packets given to the recorder; 0 without one, as the next
    std::uint64_t not_recorded = 0;  ///< packets that found its memory full
    std::uint64_t filtered = 0;      ///< packets that the config does not want on disk
};

struct ActorSnapshot {
    std::string name;
    std::uint64_t events = 0;  ///< data messages delivered to it
    std::uint64_t batches = 0;
    StageSnapshot waiting;
    Histogram::Snapshot service;  ///< of one call with a batch, sampled
    std::vector<ActorFigures> figures;
    std::vector<AccountRow> account_rows;  ///< only of a stopped appliance
};

struct CoreSnapshot : LoopSnapshot {
    std::string name;
    CpuIndex cpu = -1;
    CoreTotals counts;
    std::uint64_t sleeps = 0;
    StageSnapshot receive_to_actor;
    std::vector<ActorSnapshot> actors;
    std::vector<RingSnapshot> rings;  ///< by poller
    std::vector<RankedSeries> busiest;
};

/// The failures of recovery and history.
struct RecoverySnapshot {
    std::uint64_t notes_dropped = 0;  ///< notes of holes that found the ring full
    std::uint64_t not_kept = 0;       ///< blocks missing in the history
    std::string failure{};            ///< why its thread failed; empty: it runs
    bool has_thread = false;          ///< there is recovery, there are peers, or snapshots
    /// nullopt: there is no recovery.
    std::optional<RecoveryTotals> counts{};
    std::vector<std::pair<std::string, RefusalTotals>> sources{};  ///< requests not fulfilled
};

/// The blocks kept for peers.
struct HistorySnapshot {
    RowTotals<feed::HistoryCount, feed::HistoryCount_count> counts;
    std::uint64_t blocks = 0;
    std::uint64_t used_bytes = 0;
    std::int64_t oldest_ts_ns = 0;  ///< time of arrival; 0: there is none
};

struct PeerServerSnapshot {
    RowTotals<peer::ServerCount, peer::ServerCount_count> counts;
    PeerRefusalTotals refusals;
    SessionEndTotals ends;
    std::uint64_t connections = 0;  ///< open now
};

struct PeerClientSnapshot {
    std::string peer;
    bool connected = false;
    RowTotals<peer::ClientCount, peer::ClientCount_count> counts;
    RowTotals<peer::PeerDrop, peer::PeerDrop_count> drops;
    RefusalTotals refused_requests;
    PeerRefusalTotals refusals;
    SessionEndTotals ends;
};

struct PeersSnapshot {
    std::optional<HistorySnapshot> history;
    std::optional<PeerServerSnapshot> server;
    std::vector<PeerClientSnapshot> clients;
    /// State taken from a peer; nullopt: none is.
    std::optional<RowTotals<peer::StateCount, peer::StateCount_count>> state;
    bool state_whole = false;
};

/// The recording of packets on disk.
struct RecorderSnapshot {
    RowTotals<RecorderCount, RecorderCount_count> counts;
    int error = 0;  ///< errno of the failure that keeps it from writing; 0: it writes
    RowTotals<MissingReason, MissingReason_count> missing;
    std::uint64_t longest_write_ns = 0;
    std::uint64_t longest_pause_ns = 0;
    std::string failure;  ///< why its thread failed; empty: it runs
    // Of the state that the books took from it at the start.
    std::uint64_t recoveries = 0;
    std::uint64_t recoveries_failed = 0;
    std::uint64_t recovered_series = 0;
    // As in RecorderCounters.
    std::uint64_t snapshot_ns = 0;
    std::uint64_t snapshot_series = 0;
    int snapshot_error = 0;
    std::int64_t snapshot_interval_ns = 0;  ///< of the config; 0: no snapshots are written
    std::string compress_failure;           ///< of the latest segment; empty: none
};

/// The memory published for readers.
struct PublishedSnapshot {
    std::size_t bytes = 0;
    std::int64_t start_ns = 0;                  ///< wall time of the start that created it
    std::uint64_t wakeups = 0;                  ///< of readers
    std::vector<std::uint64_t> stream_records;  ///< by core; empty: there is no stream
};

struct CounterSnapshot {
    std::string feed;
    double seconds = 0;
    std::uint64_t clock_error_ns = 0;
    bool from_due = false;  ///< paced replay: latencies start when a packet was due
    bool live = true;       ///< false: captures are replayed
    std::uint64_t hot_allocations = 0;
    std::uint64_t clock_steps = 0;
    std::optional<double> clock_tick_ns;  ///< nullopt: the clock is not the time stamp counter
    RowTotals<ReloadCount, ReloadCount_count> reloads;
    bool reload_refused = false;      ///< the latest one
    std::uint64_t admin_untaken = 0;  ///< connections that the admin socket could not accept
    std::optional<std::array<std::uint64_t, SeriesRow_count>> series_map;  ///< nullopt: no file
    /// Packets that the kernel's reverse path filter dropped, on all interfaces; nullopt: there is
    /// no port of kind uring.
    std::optional<std::uint64_t> reverse_path_drops;
    std::optional<PublishedSnapshot> published;  ///< nullopt: nothing is
    std::optional<RecorderSnapshot> recorder;    ///< nullopt: nothing is recorded
    RecoverySnapshot recovery;
    PeersSnapshot peers;
    std::vector<PollerSnapshot> pollers;
    std::vector<CoreSnapshot> cores;
    std::vector<RefusedCalls> calls;  ///< of every hot thread
};

/// The queues, lines or rings of all pollers: parts_of(counters, &PollerSnapshot::lines).
template <class Part>
[[nodiscard]] auto parts_of(const CounterSnapshot& counters,
                            std::vector<Part> PollerSnapshot::*parts) {
    return std::views::join(std::views::transform(counters.pollers, parts));
}

/// Whether the threads that count still run. A snapshot of a running appliance can be taken by any
/// thread that is not hot, at any time. Only a snapshot of a stopped appliance has the gaps and the
/// account rows.
enum class Running : std::uint8_t { yes, stopped };

/// Takes a snapshot. It reads counters of devices.
[[nodiscard]] CounterSnapshot take_counter_snapshot(Appliance& appliance,
                                                    Running running = Running::yes);

/// Sums over all lines, ports and rings.
struct Totals {
    std::size_t lines = 0;
    std::size_t lines_up = 0;
    std::uint64_t packets = 0;
    std::uint64_t delivered = 0;  ///< messages, as are the following
    std::uint64_t lost = 0;
    std::uint64_t refused = 0;  ///< by full rings
};

[[nodiscard]] Totals totals_of(const CounterSnapshot& counters);

/// The packets of all pollers that are not on disk, or not yet while the recorder runs.
[[nodiscard]] std::uint64_t not_recorded(const CounterSnapshot& counters);

/// The messages of all lines between the recording before the start and the first ones since.
[[nodiscard]] std::uint64_t missed_before_start(const CounterSnapshot& counters);

/// The packets of all pollers that the config does not want on disk.
[[nodiscard]] std::uint64_t filtered_by_recorder(const CounterSnapshot& counters);

/// The part of one poller, without its cpu and the names of its ports. `cores`: the names of the
/// cores to which it has rings, in order.
[[nodiscard]] PollerSnapshot take_poller_snapshot(PollerTask& poller,
                                                  std::span<const std::string> cores,
                                                  Running running);

/// The part of one core, without its cpu, sleeps and rings.
[[nodiscard]] CoreSnapshot take_core_snapshot(const Core& core, Running running);

}  // namespace pinstrike::actors
