// path: cold
#pragma once

#include "nic/capture/capture_reader.h"
#include "nic/packet/address.h"

#include <optional>

namespace pinstrike::nic {

/// The destination group of a captured UDP datagram that the snapshot length cut. nullopt if the
/// datagram is complete, if its headers were cut too, or if the frame carries no UDP.
[[nodiscard]] std::optional<Group> group_of_cut(const CapturedFrame& frame);

}  // namespace pinstrike::nic
