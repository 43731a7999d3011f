// path: cold
//
// What the benchmarks of the whole poll path share: a capture that DPDK's net_pcap replays for
// ever, and a poller of all lines on it, with one ring.
#pragma once

#include "actors/poller_task.h"
#include "actors/router.h"
#include "feed/opra/lines.h"
#include "nic/dpdk/eal.h"
#include "nic/dpdk/memory_need.h"
#include "nic/open_port.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace pinstrike::bench {

/// The port, and what it stands on. No port: the reason has been told.
struct LoopedCapture {
    std::shared_ptr<nic::dpdk::Eal> eal;
    std::unique_ptr<nic::Port> port;
};

inline LoopedCapture open_looped(const std::string& capture, bool hugepages, bool keeps) {
    nic::PortConfig config;
    config.name = "pcap";
    config.kind = nic::PortKind::dpdk;
    config.vdev = "net_pcap0,rx_pcap=" + capture + ",infinite_rx=1";
    config.hugepages = hugepages;
    config.membership = nic::Membership::fixed;
    config.keeps_packets = keeps;
    Problems problems;
    nic::dpdk::EalConfig environment;
    environment.ports.push_back(nic::dpdk::demand_of(config, 1));
    LoopedCapture made;
    made.eal = nic::dpdk::Eal::start(environment, problems);
    auto ports = made.eal ? nic::open_port(config, {{}}, {}, problems)
                          : std::vector<std::unique_ptr<nic::Port>>{};
    for (const Problem& problem : problems) {
        fmt::print(stderr, "{}\n", problem.text);
    }
    made.port = ports.empty() ? nullptr : std::move(ports.front());
    return made;
}

inline actors::PollerSetup poller_setup(std::unique_ptr<nic::Port> port,
                                        nic::ChecksumCheck udp_checksum) {
    actors::PollerSetup setup;
    setup.name = "poller0";
    actors::PollerPort input;
    input.config_name = "pcap";
    input.port = std::move(port);
    input.udp_checksum = udp_checksum;
    setup.ports.push_back(std::move(input));
    for (std::uint16_t number = 1; number <= 96; ++number) {
        setup.lines.push_back(*feed::opra::published_line(number));
    }
    return setup;
}

inline actors::Router router_to(actors::Producer<feed::Event> producer) {
    std::vector<actors::Producer<feed::Event>> producers;
    producers.push_back(std::move(producer));
    return {
        {actors::Sharding::series, actors::WhenFull::refuse, 96}, std::move(producers), {nullptr}};
}

}  // namespace pinstrike::bench
