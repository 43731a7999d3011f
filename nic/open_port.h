// path: cold
//
// From a port's config to its Ports. What a new kind of port needs: README.md.
#pragma once

#include "config/problem.h"
#include "nic/capture/pcap_port.h"
#include "nic/port.h"
#include "nic/port_config.h"
#include "nic/sim/frame_source.h"

#include <functional>
#include <memory>
#include <vector>

namespace pinstrike::nic {

/// Makes the source of one queue of a sim port: the frames of `groups`, and no others. Null with a
/// problem told where it cannot.
using FrameSourceFactory = std::function<std::unique_ptr<FrameSource>(
    const PortConfig& config, const std::vector<Group>& groups, Problems& problems)>;

/// groups_by_queue[q]: the groups of the lines of the q-th poller that reads this port.
using GroupsByQueue = std::vector<std::vector<Group>>;

/// One Port for each poller that reads `config`, in the order of `groups_by_queue`; a frame that
/// is nobody's comes to the first. Empty, with every problem told, where one cannot be opened.
/// Called on the control thread; each Port is then used by its poller's thread alone. Ports that
/// are given one `start` replay their captures together.
[[nodiscard]] std::vector<std::unique_ptr<Port>> open_port(
    const PortConfig& config, const GroupsByQueue& groups_by_queue,
    const FrameSourceFactory& make_source, Problems& problems,
    const std::shared_ptr<ReplayStart>& start = std::make_shared<ReplayStart>());

}  // namespace pinstrike::nic
