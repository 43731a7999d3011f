// path: cold
//
// What the whole poll path is measured on: captures that DPDK's net_pcap replays for ever, and a
// poller of all lines. A capture that is to be looped ends as `generate --end-with-reset` ends it.
#pragma once

#include "actors/poller/poller_task.h"
#include "actors/poller/router.h"
#include "config/problem.h"
#include "nic/dpdk/eal.h"
#include "nic/port.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace pinstrike::actors {

/// A port for each capture, and what they stand on.
struct LoopedCaptures {
    std::shared_ptr<nic::dpdk::Eal> eal;
    std::vector<std::unique_ptr<nic::Port>> ports;
};

struct LoopedMemory {
    bool hugepages = false;
    bool keeps = false;  ///< packets may be kept over bursts
};

/// Once a process, since DPDK begins once. No ports: the problems tell why.
[[nodiscard]] LoopedCaptures open_looped(std::span<const std::string> captures, LoopedMemory memory,
                                         Problems& problems);

/// A poller of these lines on one port.
[[nodiscard]] PollerSetup looped_setup(std::unique_ptr<nic::Port> port,
                                       nic::ChecksumCheck udp_checksum,
                                       std::vector<feed::LineConfig> lines);

/// The router of a poller of so many lines; what finds no room is refused.
[[nodiscard]] Router router_to(std::vector<Producer<feed::Event>> producers,
                               std::size_t lines_count);

}  // namespace pinstrike::actors
