// path: hot
#pragma once

#include "nic/packet/packet.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace pinstrike::nic {

/// Makes frames for a SimPort. The traffic generator and tests implement it. Only the port's thread
/// uses it.
class FrameSource {
  public:
    virtual ~FrameSource() = default;

    /// Fills at most burst.size() packets and returns their number; their bytes stay valid until
    /// the next call. A source that paces its frames uses `now_ns`, the wall time of the step.
    /// Never blocks.
    virtual std::size_t fill(std::span<Packet> burst, std::int64_t now_ns) = 0;

    /// True once no frame can follow.
    [[nodiscard]] virtual bool exhausted() const { return false; }
};

}  // namespace pinstrike::nic
