// path: cold
//
// What the log's watch sees of a running appliance at one look: totals since the start. Plain
// figures, so that tests make them by hand.
#pragma once

#include "actors/appliance/appliance.h"
#include "actors/poller/unknown_groups.h"
#include "config/rows.h"
#include "nic/packet/drops.h"
#include "nic/port.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pinstrike::actors {

/// A queue of a port, at its poller.
struct QueueSight {
    std::string port;
    std::size_t burst_packets = 64;
    std::uint64_t packets = 0;
    std::uint64_t full_bursts = 0;
    std::uint64_t link_changes = 0;
    nic::DeviceStatistics device;
    std::array<std::uint64_t, nic::Drop_count> dropped{};
    std::vector<UnknownGroup> unknown_groups;  ///< where the most of these were sent
};

struct LineSight {
    std::uint16_t line = 0;
    std::array<std::uint64_t, feed::streams_count> packets{};
    std::array<feed::LineState, feed::streams_count> states{};
    std::array<std::int64_t, feed::streams_count> heard_ns{};  ///< wall time of the latest packet
    feed::StreamsReceived received = feed::both_streams;
    bool down = false;
    std::uint64_t gaps = 0;
    std::uint64_t lost = 0;
    std::uint64_t late = 0;
    std::uint64_t repaired = 0;
    std::uint64_t resets_inferred = 0;
    std::vector<std::uint64_t> rejected;  ///< by row of PollerSight::reject_rows
};

struct PollerSight {
    std::string name;
    std::uint64_t turns = 0;  ///< of its loop
    std::uint64_t busy_ns = 0;
    std::uint64_t idle_ns = 0;
    std::span<const Row> reject_rows;
    std::vector<QueueSight> queues;
    std::vector<LineSight> lines;
};

struct ActorSight {
    std::string name;
    std::uint64_t service_ns = 0;  ///< of the batches that were timed
};

/// A ring of a core.
struct RingSight {
    std::string from;
    std::size_t capacity_records = 0;
    std::uint64_t refused = 0;  ///< messages
};

struct CoreSight {
    std::string name;
    std::uint64_t turns = 0;  ///< of its loop
    std::uint64_t busy_ns = 0;
    std::uint64_t idle_ns = 0;
    std::vector<ActorSight> actors;
    std::vector<RingSight> rings;
};

/// What recovery and the history could not do.
struct RecoverySight {
    std::uint64_t abandoned = 0;        ///< messages asked for in vain
    std::uint64_t never_asked = 0;      ///< messages: no budget, or no source, in time
    std::uint64_t untracked = 0;        ///< messages for which a line's list had no room
    std::uint64_t notes_dropped = 0;    ///< holes that were not heard of
    std::uint64_t repairs_dropped = 0;  ///< blocks that were brought, and found no room
    std::uint64_t not_kept = 0;         ///< blocks that the history missed
    std::string failure{};              ///< why its thread ended by itself; empty: it did not
};

struct Sight {
    double seconds = 0;
    bool live = true;  ///< false: captures are replayed
    std::uint64_t hot_allocations = 0;
    std::uint64_t clock_steps = 0;
    /// By the kernel, on all interfaces; nothing without a port of kind uring.
    std::optional<std::uint64_t> reverse_path_drops;
    RecoverySight recovery;
    std::vector<PollerSight> pollers;
    std::vector<CoreSight> cores;
    std::vector<RefusedCalls> calls;  ///< of every hot thread
};

/// From the control thread, at any time. It asks devices for their counts.
[[nodiscard]] Sight take_sight(Appliance& appliance);

}  // namespace pinstrike::actors
