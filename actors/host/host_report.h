// path: cold
//
// Compares the needs of a config with the host that it would run on. read_host_resources() reads
// the host, and report_on() decides, so that tests can describe hosts by hand.
#pragma once

#include "actors/topology/feed_config.h"
#include "actors/topology/machine.h"
#include "actors/topology/topology.h"
#include "config/problem.h"
#include "nic/dpdk/eal_arguments.h"

#include <set>
#include <string>

namespace pinstrike::actors {

struct HostResources {
    Machine machine;
    nic::dpdk::PortResources dpdk;     ///< hugepages, rights, devices
    std::set<std::string> interfaces;  ///< network interfaces of the kernel
    std::set<std::string> files;       ///< the config's captures that can be opened
    Problems content;                  ///< what is wrong inside these captures
};

struct HostReport : TopologyFindings {
    std::string text;  ///< for people: memory and hugepages, required and available
};

[[nodiscard]] HostResources read_host_resources(const FeedConfig& config);

[[nodiscard]] HostReport report_on(const HostResources& host, const FeedConfig& config,
                                   const Topology& topology);

}  // namespace pinstrike::actors
