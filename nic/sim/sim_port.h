// path: hot
#pragma once

#include "nic/port.h"
#include "nic/sim/frame_source.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace pinstrike::nic {

/// A port without a device. It delivers and counts the frames that a FrameSource makes.
class SimPort final : public Port {
  public:
    SimPort(std::string name, std::unique_ptr<FrameSource> source);

    std::size_t receive(std::span<Packet> burst, std::int64_t now_ns) override;

    [[nodiscard]] bool exhausted() const override { return source_->exhausted(); }

  private:
    std::unique_ptr<FrameSource> source_;
};

}  // namespace pinstrike::nic
