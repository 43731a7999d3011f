// path: hot
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace pinstrike::nic {

/// What the hardware said of a checksum; `unknown` means software has to look.
enum class Checksum : std::uint8_t { unknown, good, bad };

/// Who verifies the UDP checksum of a port's packets: the hardware, or software where the hardware
/// does not say; software always; nobody.
enum class ChecksumCheck : std::uint8_t { offload, software, off };

/// One Ethernet frame of a burst. The bytes belong to the port and stay valid until its next
/// receive() or its end, those of a kept burst (Port::keep_burst) until they are given back: who
/// needs them longer copies them.
struct Packet {
    const std::byte* bytes = nullptr;
    std::uint32_t length_bytes = 0;
    Checksum udp_checksum = Checksum::unknown;
    Checksum ip_checksum = Checksum::unknown;
    /// Arrival, nanoseconds since the Unix epoch: the NIC's stamp where it gives one, else the
    /// clock read once for the burst; the capture's time when replayed.
    std::int64_t ts_receive_ns = 0;

    [[nodiscard]] std::span<const std::byte> frame() const { return {bytes, length_bytes}; }
};

}  // namespace pinstrike::nic
