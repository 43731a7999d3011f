// path: cold
//
// The plan of one seed: the traffic, the two links, the host and its faults. Everything is drawn
// here, so that describe() can print the whole plan.
#pragma once

#include "actors/topology/feed_config.h"
#include "feed/arbitration/arbiter.h"
#include "feed/opra/traffic/traffic_config.h"
#include "feed/recovery/recovery_config.h"
#include "nic/port_config.h"
#include "tests/sim/link.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pinstrike::sim {

/// A thread of the host does not run for this long, counted from the start of the traffic.
struct Stop {
    std::size_t thread = 0;  ///< among the pollers, or among the cores
    std::int64_t at_ns = 0;
    std::int64_t for_ns = 0;
};

/// At `at_ns`, the clock that the program reads jumps by `by_ns`.
struct ClockStep {
    std::int64_t at_ns = 0;
    std::int64_t by_ns = 0;
};

/// Which NIC receives which stream.
enum class Cabling : std::uint8_t { direct, swapped, swapped_later, one_nic };

struct HostPlan {
    std::size_t pollers = 1;
    std::size_t cores = 1;
    std::size_t ring_slots = 1 << 14;
    actors::Sharding sharding = actors::Sharding::series;
    feed::ArbitrationConfig arbitration;
    std::size_t queue_packets = 4096;  ///< of a NIC's receive queue
    std::size_t burst_packets = 64;
    nic::ChecksumCheck udp_checksum = nic::ChecksumCheck::offload;
    bool nic_checks = true;  ///< the NIC checks checksums
    bool nic_stamps = false;
    bool nic_keeps = false;  ///< the history reads packets in the NIC's buffers
    bool test_symbols = false;
    std::int64_t poller_idle_ns = 500'000;   ///< longest time between two polls of empty queues
    std::int64_t packet_ns = 200;            ///< a poller's time for one packet
    std::vector<std::int64_t> core_step_ns;  ///< longest step, by core
    std::vector<Stop> poller_stops;
    std::vector<Stop> core_stops;
    std::vector<ClockStep> clock_steps;
    bool keeps_history = false;
    std::int64_t start_after_ns = 0;  ///< after the start of the traffic
    std::int64_t stop_after_ns = 0;   ///< 0: once all packets have arrived and all events are sent
};

/// The other instance of a pair, from which this one requests lost messages.
struct TwinPlan {
    bool there = false;
    std::array<LinkFaults, feed::streams_count> links;
    std::int64_t delay_ns = 100'000;  ///< shortest one-way delay of the connection
    std::int64_t keep_ns = 10'000'000'000;
    std::size_t memory_bytes = 8 << 20;
    std::uint32_t requests_per_second = 500;
    double lies = 0;  ///< share of blocks that it keeps with wrong numbers, line or bytes
    std::vector<Outage> restarts;

    /// The twin is fast, honest and always up, so that it delivers all that it has.
    [[nodiscard]] bool kind() const {
        return there && restarts.empty() && lies == 0 && delay_ns <= 1'000'000 &&
               requests_per_second >= 500;
    }
};

/// The host copies the state of every series from the twin when it starts.
struct StatePlan {
    bool taken = false;
    std::int64_t within_ns = 1'000'000'000;
    std::size_t journal_messages = 4096;  ///< capacity of each book's journal
};

/// Blocks on the retransmission groups, which others requested; some may be lost at this host too.
struct RetransmissionPlan {
    double share = 0;  ///< of all blocks
    std::int64_t after_ns_max = 0;
    double marked = 1;  ///< share of these whose header marks them as retransmitted
};

struct Plan {
    std::uint64_t seed = 0;
    std::vector<feed::LineConfig> lines;
    std::vector<feed::opra::TrafficConfig> days;
    std::array<LinkFaults, feed::streams_count> links;
    Cabling cabling = Cabling::direct;
    std::int64_t swap_after_ns = 0;
    std::size_t noise_packets = 0;
    HostPlan host;
    feed::RecoveryConfig recovery;
    TwinPlan twin;
    StatePlan state;
    RetransmissionPlan retransmission;
    double undecodable = 0;  ///< share of valid blocks with an undecodable message
    /// The host has a calendar. The days are then weekdays, and OPRA may send tests at the weekend.
    bool calendar = false;
};

/// How much traffic a seed has.
enum class Size : std::uint8_t { small, large };

[[nodiscard]] Plan draw_plan(std::uint64_t seed);

/// The plan of the twin's own host: the same lines, no faults of the host, and no recovery.
[[nodiscard]] Plan plan_of_twin(const Plan& plan);

/// With a calendar, all messages of a weekend are tests.
[[nodiscard]] bool is_weekend(std::int64_t ts_ns);

/// Most seeds are small.
[[nodiscard]] Size size_of(std::uint64_t seed);

[[nodiscard]] std::string describe(const Plan& plan);

}  // namespace pinstrike::sim
