// path: cold
//
// Sends whole Ethernet frames as they are on a kernel interface (AF_PACKET): for the generator,
// whose addresses are not this host's. Needs CAP_NET_RAW.
#pragma once

#include "config/problem.h"
#include "nic/packet/packet.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace pinstrike::nic {

class FrameSender {
  public:
    /// A sender on the interface, or the problem that there is none.
    [[nodiscard]] static std::optional<FrameSender> open(const std::string& interface,
                                                         Problems& problems);

    FrameSender(FrameSender&& other) noexcept;
    FrameSender& operator=(FrameSender&& other) noexcept;
    FrameSender(const FrameSender&) = delete;
    FrameSender& operator=(const FrameSender&) = delete;
    ~FrameSender();

    /// Sends all frames, waiting where the interface's queue is full. False after an error that
    /// waiting does not mend; error_text() then says which.
    [[nodiscard]] bool send(std::span<const Packet> frames);

    [[nodiscard]] std::uint64_t sent_packets() const { return sent_packets_; }

    [[nodiscard]] std::string error_text() const;

  private:
    explicit FrameSender(int descriptor) : descriptor_(descriptor) {}

    int descriptor_ = -1;
    int error_ = 0;
    std::uint64_t sent_packets_ = 0;
};

}  // namespace pinstrike::nic
