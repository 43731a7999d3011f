// path: cold
//
// Frames that a switch mirrored to a capturing host through a GRE tunnel, as ERSPAN does. Of
// captures alone: a port that is live takes no packet out of a tunnel, since anybody who can send
// it one packet could so send it market data.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace pinstrike::nic {

class TunnelExit {
  public:
    /// The Ethernet frame that `frame` carries through GRE: ERSPAN of types I, II and III,
    /// Ethernet, or IPv4, which is given an Ethernet header. `frame` itself where it carries none.
    /// Valid until the next call and as long as `frame`.
    [[nodiscard]] std::span<const std::byte> inside(std::span<const std::byte> frame);

  private:
    std::vector<std::byte> rewritten_;  ///< an IPv4 packet behind an Ethernet header that is added
};

}  // namespace pinstrike::nic
