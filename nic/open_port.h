// path: cold
//
// Opens the Ports of a port's config. README.md lists what a new kind of port needs.
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

/// Makes the source of one queue of a sim port, which generates frames of `groups` only. Null, with
/// a problem added, if it cannot.
using FrameSourceFactory = std::function<std::unique_ptr<FrameSource>(
    const PortConfig& config, const std::vector<Group>& groups, Problems& problems)>;

/// groups_by_queue[q]: the groups of the lines of the q-th poller that reads this port.
using GroupsByQueue = std::vector<std::vector<Group>>;

/// Opens one Port for each poller that reads `config`, in the order of `groups_by_queue`. The first
/// receives the frames of groups that no poller listens to. Empty, with every problem added, if one
/// cannot be opened. Called on the control thread; then only its poller's thread uses each Port.
/// Ports with the same `start` replay their captures together.
[[nodiscard]] std::vector<std::unique_ptr<Port>> open_port(
    const PortConfig& config, const GroupsByQueue& groups_by_queue,
    const FrameSourceFactory& make_source, Problems& problems,
    const std::shared_ptr<ReplayStart>& start = std::make_shared<ReplayStart>());

}  // namespace pinstrike::nic
