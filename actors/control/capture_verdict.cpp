// path: cold
#include "actors/control/capture_verdict.h"

#include <fmt/format.h>

#include <cstddef>

namespace pinstrike::command {

std::uint64_t packets_of_other_protocols(const actors::DropCounters& drops) {
    std::uint64_t packets = 0;
    for (std::size_t i = 0; i < nic::Drop_count; ++i) {
        const auto drop = static_cast<nic::Drop>(i);
        // An Ethernet type that is not supported may be a tag before market data.
        const bool other = nic::is_network_control(drop) || drop == nic::Drop::not_udp;
        packets += other ? drops.read(drop) : 0;
    }
    return packets;
}

std::vector<std::string> capture_faults(actors::Appliance& appliance, const End& end) {
    std::vector<std::string> faults;
    std::uint64_t packets = 0;
    std::uint64_t other = 0;
    std::uint64_t to_lines = 0;
    for (std::size_t i = 0; i < appliance.pollers_count(); ++i) {
        const actors::PollerTask& poller = appliance.poller(i);
        for (std::size_t k = 0; k < poller.ports_count(); ++k) {
            const nic::Port& port = *poller.input(k).port;
            if (!port.replays()) {
                continue;
            }
            packets += port.counters().read(nic::PortCount::packets);
            other += packets_of_other_protocols(poller.input(k).drops);
            to_lines += poller.input(k).to_lines.read();
            for (const std::string& sentence : port.unread()) {
                faults.push_back(fmt::format("port {}: {}", port.name(), sentence));
            }
            if (!port.exhausted() && end.kind == End::Kind::asked) {
                faults.push_back(fmt::format(
                    "port {}: its captures were not read to their end: {} after {} packets",
                    port.name(), end.cause, port.counters().read(nic::PortCount::packets)));
            }
        }
    }
    if (packets > other && to_lines == 0 && end.kind != End::Kind::time) {
        faults.push_back(
            fmt::format("{} packets were read from captures, and none reached a line: the account "
                        "gives the reasons",
                        packets));
    }
    return faults;
}

}  // namespace pinstrike::command
