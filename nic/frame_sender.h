// path: cold
//
// Sends whole Ethernet frames unchanged on a kernel interface (AF_PACKET), which needs CAP_NET_RAW.
// The generator uses it because its source addresses are not those of this host.
#pragma once

#include "config/problem.h"
#include "nic/file_descriptor.h"
#include "nic/packet/packet.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace pinstrike::nic {

class FrameSender {
  public:
    /// Opens a sender on the interface; nullopt, with a problem added, if that fails.
    [[nodiscard]] static std::optional<FrameSender> open(const std::string& interface,
                                                         Problems& problems);

    /// Sends all frames and waits while the interface's queue is full. False after an error that
    /// waiting does not resolve; error_text() then describes the error.
    [[nodiscard]] bool send(std::span<const Packet> frames);

    [[nodiscard]] std::uint64_t sent_packets() const { return sent_packets_; }

    [[nodiscard]] std::string error_text() const;

  private:
    explicit FrameSender(FileDescriptor socket) : socket_(std::move(socket)) {}

    FileDescriptor socket_;
    int error_ = 0;
    std::uint64_t sent_packets_ = 0;
};

}  // namespace pinstrike::nic
