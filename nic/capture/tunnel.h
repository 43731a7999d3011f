// path: cold
//
// Extracts frames that a switch mirrored to the capturing host through a GRE tunnel (ERSPAN). Only
// captures use it: a live port must not unpack tunnels, because then any host that can send it a
// packet could inject market data.
#pragma once

#include "nic/capture/capture_reader.h"

#include <cstddef>
#include <span>
#include <vector>

namespace pinstrike::nic {

class TunnelExit {
  public:
    /// Returns the Ethernet frame that `frame` carries in GRE: ERSPAN of types I, II and III,
    /// Ethernet, or IPv4, to which an Ethernet header is added. If the snapshot length cut `frame`,
    /// the end of the result is missing too. Returns the bytes of `frame` itself if it carries none
    /// of these. The result is valid until the next call, and only as long as `frame` is.
    [[nodiscard]] std::span<const std::byte> inside(const CapturedFrame& frame);

  private:
    std::vector<std::byte> rewritten_;  ///< an added Ethernet header and the IPv4 packet
};

}  // namespace pinstrike::nic
