// path: cold
#include "actors/control/capture_verdict.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>

namespace pinstrike::actors {

bool is_of_other_protocol(nic::Drop drop) {
    // An Ethernet type that is not supported may be a tag before market data.
    return nic::is_network_control(drop) || drop == nic::Drop::not_udp;
}

std::vector<std::string> capture_faults(const CounterSnapshot& counters, const RunEnd& end) {
    std::vector<std::string> faults;
    std::uint64_t packets = 0;
    std::uint64_t other = 0;
    std::uint64_t to_lines = 0;
    for (const PollerSnapshot& poller : counters.pollers) {
        for (const QueueSnapshot& queue : poller.queues) {
            if (!queue.replays) {
                continue;
            }
            const std::uint64_t read = queue.counts[nic::PortCount::packets];
            packets += read;
            to_lines += queue.to_lines;
            for (std::size_t i = 0; i < nic::Drop_count; ++i) {
                other += is_of_other_protocol(static_cast<nic::Drop>(i))
                             ? queue.dropped[static_cast<nic::Drop>(i)]
                             : 0;
            }
            for (const std::string& sentence : queue.unread) {
                faults.push_back(fmt::format("port {}: {}", queue.name, sentence));
            }
            if (!queue.exhausted && end.kind == RunEnd::Kind::asked) {
                faults.push_back(fmt::format(
                    "port {}: its captures were not read to their end: {} after {} packets",
                    queue.name, end.cause, read));
            }
        }
    }
    if (packets > other && to_lines == 0 && end.kind != RunEnd::Kind::time) {
        faults.push_back(
            fmt::format("{} packets were read from captures, and none reached a line: the account "
                        "gives the reasons",
                        packets));
    }
    return faults;
}

}  // namespace pinstrike::actors
