// path: cold
//
// What a config needs of the host it would run on, beside what the host has. Looking is
// read_host()'s, deciding report_on()'s, which is tested on hosts made by hand.
#pragma once

#include "actors/topology/feed_config.h"
#include "actors/topology/machine.h"
#include "actors/topology/topology.h"
#include "config/problem.h"
#include "nic/dpdk/eal_arguments.h"

#include <set>
#include <string>
#include <vector>

namespace pinstrike::actors {

struct Host {
    Machine machine;
    nic::dpdk::Machine dpdk;           ///< hugepages, rights, devices
    std::set<std::string> interfaces;  ///< of the kernel
    std::set<std::string> files;       ///< captures of the config that can be read
};

struct HostReport {
    std::string text;                  ///< memory and hugepages, needed and there; for people
    Problems problems;                 ///< would forbid the start
    std::vector<std::string> remarks;  ///< would not
};

[[nodiscard]] Host read_host(const FeedConfig& config);

[[nodiscard]] HostReport report_on(const Host& host, const FeedConfig& config,
                                   const Topology& topology);

}  // namespace pinstrike::actors
