// path: cold
#include "nic/open_port.h"

#include <fmt/format.h>

#include <string>

namespace pinstrike::nic {

std::string PortOpening::queue_name(std::size_t queue) const {
    return groups_by_queue.size() == 1 ? config.name : fmt::format("{}/{}", config.name, queue);
}

Ports open_port(const PortConfig& config, const GroupsByQueue& groups_by_queue,
                const FrameSourceFactory& make_source, Problems& problems,
                const std::shared_ptr<ReplayStart>& start) {
    Problems found;
    Ports ports = row_of(config.kind).open({config, groups_by_queue, make_source, start, found});
    if (!found.empty()) {
        problems.insert(problems.end(), found.begin(), found.end());
        return {};
    }
    return ports;
}

}  // namespace pinstrike::nic
