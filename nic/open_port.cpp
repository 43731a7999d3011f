// path: cold
#include "nic/open_port.h"

#include "nic/capture_reader.h"
#include "nic/dpdk/open_dpdk.h"
#include "nic/pcap_port.h"
#include "nic/sim_port.h"
#include "nic/uring_port.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

namespace pinstrike::nic {

namespace {

using Ports = std::vector<std::unique_ptr<Port>>;

/// One queue bears the port's name; several are told apart by their number.
std::string queue_name(const PortConfig& config, const GroupsByQueue& groups, std::size_t queue) {
    return groups.size() == 1 ? config.name : fmt::format("{}/{}", config.name, queue);
}

/// What the queue takes of a capture that all queues read: the first takes all that is not another
/// queue's, the others only their own.
GroupFilter filter_of(const GroupsByQueue& groups_by_queue, std::size_t queue) {
    GroupFilter filter;
    if (queue == 0) {
        for (std::size_t other = 1; other < groups_by_queue.size(); ++other) {
            const std::vector<Group>& groups = groups_by_queue[other];
            filter.groups.insert(filter.groups.end(), groups.begin(), groups.end());
        }
    } else {
        filter.groups = groups_by_queue[queue];
        filter.takes_listed = true;
    }
    std::sort(filter.groups.begin(), filter.groups.end());
    return filter;
}

Ports open_captures(const PortConfig& config, const GroupsByQueue& groups_by_queue,
                    const FrameSourceFactory& /*make_source*/,
                    const std::shared_ptr<ReplayStart>& start, Problems& problems) {
    Ports ports;
    if (config.files.empty()) {
        tell(problems, "", fmt::format("port {}: kind pcap needs files", config.name));
    }
    for (std::size_t queue = 0; queue < groups_by_queue.size() && problems.empty(); ++queue) {
        std::vector<CaptureReader> readers;
        for (const std::string& file : config.files) {
            if (std::optional<CaptureReader> reader = CaptureReader::open(file, problems)) {
                readers.push_back(std::move(*reader));
            }
        }
        ports.push_back(std::make_unique<PcapPort>(
            queue_name(config, groups_by_queue, queue), std::move(readers), config.pace,
            config.burst_packets, filter_of(groups_by_queue, queue), start));
    }
    return ports;
}

Ports open_simulators(const PortConfig& config, const GroupsByQueue& groups_by_queue,
                      const FrameSourceFactory& make_source,
                      const std::shared_ptr<ReplayStart>& /*start*/, Problems& problems) {
    Ports ports;
    if (!make_source) {
        tell(problems, "",
             fmt::format("port {}: nothing here makes frames for kind sim", config.name));
        return ports;
    }
    for (std::size_t queue = 0; queue < groups_by_queue.size(); ++queue) {
        if (auto source = make_source(config, groups_by_queue[queue], problems)) {
            ports.push_back(std::make_unique<SimPort>(queue_name(config, groups_by_queue, queue),
                                                      std::move(source)));
        }
    }
    return ports;
}

Ports open_device(const PortConfig& config, const GroupsByQueue& groups_by_queue,
                  const FrameSourceFactory& /*make_source*/,
                  const std::shared_ptr<ReplayStart>& /*start*/, Problems& problems) {
    return dpdk::open_dpdk(config, groups_by_queue, problems);
}

Ports open_kernel_sockets(const PortConfig& config, const GroupsByQueue& groups_by_queue,
                          const FrameSourceFactory& /*make_source*/,
                          const std::shared_ptr<ReplayStart>& /*start*/, Problems& problems) {
    Ports ports;
    for (std::size_t queue = 0; queue < groups_by_queue.size() && problems.empty(); ++queue) {
        ports.push_back(UringPort::open(config, queue_name(config, groups_by_queue, queue),
                                        groups_by_queue[queue], problems));
    }
    return ports;
}

struct Kind {
    PortKind kind;
    Ports (*open)(const PortConfig&, const GroupsByQueue&, const FrameSourceFactory&,
                  const std::shared_ptr<ReplayStart>&, Problems&);
};

/// Every kind of port: one line each.
constexpr std::array kinds{
    Kind{PortKind::dpdk, open_device},
    Kind{PortKind::pcap, open_captures},
    Kind{PortKind::sim, open_simulators},
    Kind{PortKind::uring, open_kernel_sockets},
};

}  // namespace

Ports open_port(const PortConfig& config, const GroupsByQueue& groups_by_queue,
                const FrameSourceFactory& make_source, Problems& problems,
                const std::shared_ptr<ReplayStart>& start) {
    const auto* kind = std::find_if(kinds.begin(), kinds.end(),
                                    [&](const Kind& k) { return k.kind == config.kind; });
    if (kind == kinds.end()) {
        tell(problems, "", fmt::format("port {}: this build has no port of its kind", config.name));
        return {};
    }
    Problems found;
    Ports ports = kind->open(config, groups_by_queue, make_source, start, found);
    if (!found.empty()) {
        problems.insert(problems.end(), found.begin(), found.end());
        return {};
    }
    return ports;
}

}  // namespace pinstrike::nic
