// path: cold
//
// Frames for the tests of nic.
#pragma once

#include "nic/packet/packet.h"
#include "nic/packet/udp_frame_writer.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pinstrike::nic {

using Bytes = std::vector<std::byte>;

inline Bytes bytes_of(std::string_view text) {
    const auto raw = std::as_bytes(std::span(text));
    return {raw.begin(), raw.end()};
}

inline UdpRoute route_to(Ipv4 group, std::uint16_t port) {
    UdpRoute route;
    route.source = Ipv4{0x0A000001};
    route.source_port = 5000;
    route.destination = {group, port};
    return route;
}

inline const UdpRoute route_of_tests = route_to(Ipv4{0xE000CC01}, 45001);

inline Bytes udp_frame(const UdpRoute& route, std::span<const std::byte> payload,
                       UdpChecksumSent checksum = UdpChecksumSent::computed) {
    Bytes frame(udp_headers_bytes(route.vlan) + payload.size());
    if (!payload.empty()) {
        std::memcpy(frame.data() + frame.size() - payload.size(), payload.data(), payload.size());
    }
    write_udp_headers(frame.data(), route, payload.size(), checksum);
    return frame;
}

inline Packet packet_of(std::span<const std::byte> frame) {
    Packet packet;
    packet.bytes = frame.data();
    packet.length_bytes = static_cast<std::uint32_t>(frame.size());
    return packet;
}

inline std::string text_of(std::span<const std::byte> bytes) {
    std::string text(bytes.size(), '\0');
    if (!bytes.empty()) {
        std::memcpy(text.data(), bytes.data(), bytes.size());
    }
    return text;
}

/// A temporary directory of this object, which is removed with its content when the object ends.
class ScratchDirectory {
  public:
    ScratchDirectory() {
        std::string pattern =
            (std::filesystem::temp_directory_path() / "pinstrike-XXXXXX").string();
        path_ = mkdtemp(pattern.data());
    }

    ~ScratchDirectory() { std::filesystem::remove_all(path_); }

    ScratchDirectory(const ScratchDirectory&) = delete;
    ScratchDirectory& operator=(const ScratchDirectory&) = delete;

    [[nodiscard]] std::string file(const std::string& name) const { return path_ / name; }

  private:
    std::filesystem::path path_;
};

}  // namespace pinstrike::nic
