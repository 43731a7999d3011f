// path: cold
//
// A machine, and the config of a feed on it.
#pragma once

#include "actors/topology/feed_config.h"
#include "actors/topology/machine.h"
#include "nic/dpdk/dpdk_config.h"

#include <cstddef>
#include <cstdint>

namespace pinstrike::actors {

/// Two sockets of two cores of two threads: cpus 0-3 on node 0, 4-7 on node 1; 0 and 1 siblings.
inline Machine two_sockets() {
    Machine machine;
    for (int cpu = 0; cpu < 8; ++cpu) {
        machine.cpus.push_back(
            {cpu, static_cast<unsigned>(cpu / 2), static_cast<unsigned>(cpu / 4)});
    }
    machine.memory_bytes = std::size_t{64} << 30;
    machine.pci_nodes = {{"0000:3b:00.0", 0}};
    return machine;
}

/// Two pollers, each with its own port and line, and two cores.
inline FeedConfig config_of(CpuIndex poll0, CpuIndex poll1, CpuIndex core0, CpuIndex core1) {
    FeedConfig config;
    for (const std::uint16_t number : {std::uint16_t{1}, std::uint16_t{2}}) {
        feed::LineConfig line;
        line.number = number;
        config.lines.push_back(line);
    }
    for (const char* name : {"a0", "b0"}) {
        nic::PortConfig port;
        port.name = name;
        port.kind = nic::PortKind::dpdk;
        port.own.get<nic::dpdk::DpdkConfig>().pci = "0000:3b:00.0";
        config.ports.push_back(port);
    }
    config.pollers = {{"poll0", poll0, {1}, {"a0", "b0"}}, {"poll1", poll1, {2}, {"b0"}}};
    config.cores = {{"core0", core0}, {"core1", core1}};
    config.ring_slots = 1000;
    return config;
}

}  // namespace pinstrike::actors
