// path: cold
#pragma once

#include "nic/capture_reader.h"
#include "nic/port_config.h"

#include <optional>

namespace pinstrike::nic {

/// Where the datagram of a captured frame was sent that lacks bytes because of the capture's
/// snapshot length. Nothing where the datagram is whole (the snapshot length left out padding, or
/// nothing), and where its headers are cut off as well.
[[nodiscard]] std::optional<Group> group_of_cut(const CapturedFrame& frame);

}  // namespace pinstrike::nic
