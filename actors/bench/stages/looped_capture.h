// path: cold
//
// The input of benchmarks of the whole poll path: captures that DPDK's net_pcap replays endlessly,
// and a poller of all lines. A looped capture must end with a reset of every line, which the option
// --end-with-reset of `pinstrike generate` writes.
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

/// One port per capture, and the DPDK environment that the ports need.
struct LoopedCaptures {
    std::shared_ptr<nic::dpdk::Eal> eal;
    std::vector<std::unique_ptr<nic::Port>> ports;
};

struct LoopedMemory {
    bool hugepages = false;
    bool keeps = false;  ///< a port can hold packets beyond the next burst
};

/// Must be called only once per process, because DPDK can be started only once. On an error,
/// returns no ports and adds problems.
[[nodiscard]] LoopedCaptures open_looped(std::span<const std::string> captures, LoopedMemory memory,
                                         Problems& problems);

/// Returns the setup of a poller with these lines on one port.
[[nodiscard]] PollerSetup looped_setup(std::unique_ptr<nic::Port> port,
                                       nic::ChecksumCheck udp_checksum,
                                       std::vector<feed::LineConfig> lines);

/// Returns a router for a poller with `lines_count` lines. It refuses events if a ring is full.
[[nodiscard]] Router router_to(std::vector<Producer<feed::Event>> producers,
                               std::size_t lines_count);

}  // namespace pinstrike::actors
