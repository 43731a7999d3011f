// path: cold
#pragma once

#include "nic/capture/capture_reader.h"
#include "nic/packet/address.h"

#include <optional>

namespace pinstrike::nic {

/// The destination of a captured frame's datagram, if the capture's snapshot length cut the
/// datagram. Nothing if the datagram is complete, or if its headers were cut off as well.
[[nodiscard]] std::optional<Group> group_of_cut(const CapturedFrame& frame);

}  // namespace pinstrike::nic
