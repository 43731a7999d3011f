// path: cold
#include "nic/open_port.h"

#include "nic/capture/pcap_port.h"
#include "nic/dpdk/open_dpdk.h"
#include "nic/sim/sim_port.h"
#include "nic/uring/uring_port.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

namespace pinstrike::nic {

namespace {

using Ports = std::vector<std::unique_ptr<Port>>;

/// A single queue has the port's name; of several, each has its number added.
std::string queue_name(const PortConfig& config, const GroupsByQueue& groups, std::size_t queue) {
    return groups.size() == 1 ? config.name : fmt::format("{}/{}", config.name, queue);
}

/// All queues read the same captures. Each hands out the frames of its own groups; the first also
/// hands out the frames that belong to no queue.
GroupFilter filter_of(const GroupsByQueue& groups_by_queue, std::size_t queue) {
    GroupFilter filter;
    filter.takes_rest = queue == 0;
    for (std::size_t each = 0; each < groups_by_queue.size(); ++each) {
        std::vector<Group>& groups = each == queue ? filter.own : filter.others;
        groups.insert(groups.end(), groups_by_queue[each].begin(), groups_by_queue[each].end());
    }
    std::sort(filter.own.begin(), filter.own.end());
    std::sort(filter.others.begin(), filter.others.end());
    return filter;
}

/// A pipe can be read only once, so only one queue can read it.
void check_pipes(const PortConfig& config, std::size_t queues, Problems& problems) {
    for (const std::string& file : config.files) {
        std::error_code unknown;
        if (queues > 1 && std::filesystem::exists(file, unknown) &&
            !std::filesystem::is_regular_file(file, unknown) &&
            !std::filesystem::is_directory(file, unknown)) {
            tell(problems, file,
                 fmt::format("port {}: {} pollers read it, but it brings its bytes only once; one "
                             "poller or a regular file expected",
                             config.name, queues));
        }
    }
}

Ports open_captures(const PortConfig& config, const GroupsByQueue& groups_by_queue,
                    const FrameSourceFactory& /*make_source*/,
                    const std::shared_ptr<ReplayStart>& start, Problems& problems) {
    Ports ports;
    if (config.files.empty()) {
        tell(problems, "", fmt::format("port {}: kind pcap needs files", config.name));
    }
    check_pipes(config, groups_by_queue.size(), problems);
    for (std::size_t queue = 0; queue < groups_by_queue.size() && problems.empty(); ++queue) {
        ports.push_back(PcapPort::open(queue_name(config, groups_by_queue, queue), config.files,
                                       config.pace, config.burst_packets, problems,
                                       filter_of(groups_by_queue, queue), start));
    }
    return ports;
}

Ports open_simulators(const PortConfig& config, const GroupsByQueue& groups_by_queue,
                      const FrameSourceFactory& make_source,
                      const std::shared_ptr<ReplayStart>& /*start*/, Problems& problems) {
    Ports ports;
    if (!make_source) {
        tell(problems, "",
             fmt::format("port {}: kind sim needs a traffic generator, and this program has none "
                         "for the feed",
                         config.name));
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
