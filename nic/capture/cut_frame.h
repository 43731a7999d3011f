// path: cold
#pragma once

#include "nic/capture/capture_reader.h"
#include "nic/packet/address.h"
#include "nic/packet/datagram.h"

#include <optional>

namespace pinstrike::nic {

/// The captured part of an IPv4 packet that the snapshot length cut. nullopt if the packet is
/// complete, if its header was cut too, or if the frame carries no IPv4.
[[nodiscard]] std::optional<Ipv4Packet> ipv4_of_cut(const CapturedFrame& frame);

/// The destination group of a captured UDP datagram that the snapshot length cut. nullopt if the
/// datagram is complete, if its headers were cut too, or if the frame carries no UDP.
[[nodiscard]] std::optional<Group> group_of_cut(const CapturedFrame& frame);

}  // namespace pinstrike::nic
