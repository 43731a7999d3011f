// path: cold
//
// Opens the Ports of a port's config. nic/README.md lists what a new kind of port needs.
#pragma once

#include "config/problem.h"
#include "nic/capture/replay_start.h"
#include "nic/port_kind.h"
#include "nic/sim/frame_source.h"

#include <memory>

namespace pinstrike::nic {

/// Opens one Port for each poller that reads `config`, in the order of `groups_by_queue`. The first
/// Port receives the frames of groups that no poller listens to. Empty, with every problem added,
/// if a Port cannot be opened. Called by the control thread; nic/port.h says which threads use a
/// Port afterwards. Ports with the same `start` replay their captures together.
[[nodiscard]] Ports open_port(
    const PortConfig& config, const GroupsByQueue& groups_by_queue,
    const FrameSourceFactory& make_source, Problems& problems,
    const std::shared_ptr<ReplayStart>& start = std::make_shared<ReplayStart>());

}  // namespace pinstrike::nic
