// path: hot
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace pinstrike::nic {

/// The hardware's verdict on a checksum. `unknown`: the hardware did not verify it.
enum class Checksum : std::uint8_t { unknown, good, bad };

/// Selects how the checksums of a port's packets are verified. offload: by hardware, or by software
/// for packets without a hardware verdict; software: always by software; off: not at all.
enum class ChecksumCheck : std::uint8_t { offload, software, off };

/// One Ethernet frame of a burst. The bytes belong to the port and stay valid until its next
/// receive() or its destruction. Those of a kept burst stay valid until the burst is given back
/// (Port::keep_burst).
struct Packet {
    const std::byte* bytes = nullptr;
    std::uint32_t length_bytes = 0;
    Checksum udp_checksum = Checksum::unknown;
    Checksum ip_checksum = Checksum::unknown;
    /// Arrival time in nanoseconds since the Unix epoch: the time stamp of the NIC or the kernel if
    /// there is one, else the time of the burst; in replays, the time in the capture.
    std::int64_t ts_receive_ns = 0;

    [[nodiscard]] std::span<const std::byte> frame() const { return {bytes, length_bytes}; }
};

}  // namespace pinstrike::nic
