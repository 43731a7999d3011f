// path: cold
#include "actors/bench/stages/looped_capture.h"

#include "nic/dpdk/memory_need.h"
#include "nic/dpdk/vdev.h"
#include "nic/open_port.h"

#include <iterator>
#include <utility>

namespace pinstrike::actors {
LoopedCaptures open_looped(std::span<const std::string> captures, LoopedMemory memory,
                           Problems& problems) {
    std::vector<nic::PortConfig> configs;
    nic::dpdk::EalConfig environment;
    for (const std::string& capture : captures) {
        configs.push_back(nic::dpdk::looped_capture(configs.size(), capture, memory.hugepages));
        configs.back().keeps_packets = memory.keeps;
        environment.ports.push_back(nic::dpdk::demand_of(configs.back(), 1));
    }
    LoopedCaptures made;
    made.eal = nic::dpdk::Eal::start(environment, problems);
    if (made.eal == nullptr) {
        return made;
    }
    for (const nic::PortConfig& config : configs) {
        auto queues = nic::open_port(config, {{}}, {}, problems);
        if (queues.empty()) {
            made.ports.clear();
            return made;
        }
        made.ports.push_back(std::move(queues.front()));
    }
    return made;
}

PollerSetup looped_setup(std::unique_ptr<nic::Port> port, nic::ChecksumCheck udp_checksum,
                         std::vector<feed::LineConfig> lines) {
    PollerSetup setup;
    setup.name = "poller0";
    PollerPort input;
    input.config_name = "pcap";
    input.port = std::move(port);
    input.udp_checksum = udp_checksum;
    setup.ports.push_back(std::move(input));
    setup.lines = std::move(lines);
    setup.arbitration.looped_captures = true;
    return setup;
}

Router router_to(std::vector<Producer<feed::Event>> producers, std::size_t lines_count) {
    const std::vector<Parking*> wakers(producers.size(), nullptr);
    return {{Sharding::series, WhenFull::refuse, lines_count}, std::move(producers), wakers};
}

}  // namespace pinstrike::actors
