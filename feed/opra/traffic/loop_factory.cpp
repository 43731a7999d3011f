// path: cold
#include "feed/opra/traffic/loop_factory.h"

#include "feed/opra/traffic/loop_source.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

namespace pinstrike::feed::opra::traffic {

nic::FrameSourceFactory loop_factory(const TrafficConfig& config, std::vector<LineConfig> lines) {
    return [config, lines = std::move(lines)](
               const nic::PortConfig& port, const std::vector<nic::Group>& groups,
               Problems& problems) -> std::unique_ptr<nic::FrameSource> {
        const auto checksum = port.udp_checksum == nic::ChecksumCheck::off
                                  ? nic::UdpChecksumSent::none
                                  : nic::UdpChecksumSent::computed;
        auto source = std::make_unique<LoopSource>(config, lines, groups, checksum);
        if (source->loop_blocks() == 0) {
            Problem problem;
            problem.text = fmt::format(
                "port {}: no traffic is generated for the lines of one of its pollers; raise "
                "traffic.lines_count or traffic.messages_count",
                port.name);
            problems.push_back(std::move(problem));
            return nullptr;
        }
        return source;
    };
}

}  // namespace pinstrike::feed::opra::traffic
