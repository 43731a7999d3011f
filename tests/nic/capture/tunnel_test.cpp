// path: cold
#include "nic/capture/tunnel.h"

#include "nic/capture/cut_frame.h"
#include "nic/packet/datagram.h"
#include "tests/nic/frames.h"

#include <gtest/gtest.h>

#include <random>

namespace pinstrike::nic {
namespace {

const Bytes mirrored = udp_frame(route_of_tests, bytes_of("mirrored"));

Bytes with_ip_checksum(Bytes frame) {
    store_be16(frame.data() + 24, 0);
    store_checksum(frame.data() + 24, checksum_sum(frame.data() + 14, 20));
    return frame;
}

/// `content` behind Ethernet, IPv4 and a tunnel header. `words`: that header, as big-endian 16-bit
/// words.
Bytes tunnelled(const std::vector<std::uint16_t>& words, std::span<const std::byte> content) {
    UdpRoute route = route_to(Ipv4{0xC0A80001}, 1);
    Bytes gre(words.size() * 2);
    for (std::size_t i = 0; i < words.size(); ++i) {
        store_be16(gre.data() + 2 * i, words[i]);
    }
    gre.insert(gre.end(), content.begin(), content.end());
    Bytes frame = udp_frame(route, std::span(gre).subspan(8));
    std::copy_n(gre.begin(), 8, frame.begin() + 34);  // replaces the UDP header
    frame[23] = std::byte{47};
    return with_ip_checksum(frame);
}

std::string inside(const Bytes& frame) {
    TunnelExit tunnel;
    Datagram datagram;
    const std::span<const std::byte> inner = tunnel.inside({.bytes = frame});
    const Drop drop = parse_udp(packet_of(inner), ChecksumCheck::software, datagram);
    return drop == not_dropped ? text_of(datagram.payload) : std::string{row_of(drop).name};
}

TEST(TunnelExit, FindsWhatEveryKindOfTunnelCarries) {
    const std::span whole{mirrored};
    const auto ip = whole.subspan(ethernet_header_bytes);
    EXPECT_EQ(inside(tunnelled({0x0000, 0x6558}, whole)), "mirrored") << "Ethernet";
    EXPECT_EQ(inside(tunnelled({0x0000, 0x0800}, ip)), "mirrored") << "IPv4";
    EXPECT_EQ(inside(tunnelled({0x0000, 0x88BE}, whole)), "mirrored") << "ERSPAN I";
    EXPECT_EQ(inside(tunnelled({0x1000, 0x88BE, 0, 7, 0x1001, 0, 0, 0}, whole)), "mirrored")
        << "ERSPAN II";
    EXPECT_EQ(inside(tunnelled({0x1000, 0x22EB, 0, 7, 0x2001, 0, 0, 0, 0, 0}, whole)), "mirrored")
        << "ERSPAN III";
    EXPECT_EQ(inside(tunnelled({0x1000, 0x22EB, 0, 7, 0x2001, 0, 0, 0, 0, 1, 0, 0, 0, 0}, whole)),
              "mirrored")
        << "ERSPAN III with a subheader";
    EXPECT_EQ(inside(tunnelled({0xB000, 0x6558, 0, 0, 0, 9, 0, 7}, whole)), "mirrored")
        << "a checksum, a key and a sequence number";
}

TEST(TunnelExit, LeavesEverythingElseAsItIs) {
    EXPECT_EQ(inside(mirrored), "mirrored");
    const std::span whole{mirrored};
    EXPECT_EQ(inside(tunnelled({0x4000, 0x6558, 0, 0}, whole)), "not_udp") << "routing";
    EXPECT_EQ(inside(tunnelled({0x0001, 0x880B}, whole)), "not_udp") << "another version";
    EXPECT_EQ(inside(tunnelled({0x0000, 0x86DD}, whole)), "not_udp") << "IPv6";
    const Bytes once = tunnelled({0x0000, 0x6558}, whole);
    EXPECT_EQ(inside(tunnelled({0x0000, 0x6558}, once)), "not_udp") << "a tunnel in a tunnel";
    Bytes fragment = once;
    fragment[20] = std::byte{0x20};
    EXPECT_EQ(inside(with_ip_checksum(fragment)), "fragment");
}

/// The destination of the frame in a tunnel of which only `bytes` were captured.
std::optional<Group> group_inside(const Bytes& whole, std::size_t bytes) {
    CapturedFrame frame{std::span(whole).first(bytes), 0,
                        static_cast<std::uint32_t>(whole.size() - bytes)};
    TunnelExit tunnel;
    frame.bytes = tunnel.inside(frame);
    return group_of_cut(frame);
}

TEST(TunnelExit, FindsWhatTheSnapshotLengthCut) {
    const std::span whole{mirrored};
    const Bytes ethernet = tunnelled({0x0000, 0x6558}, whole);
    const Bytes ip = tunnelled({0x0000, 0x0800}, whole.subspan(ethernet_header_bytes));
    const Bytes erspan = tunnelled({0x1000, 0x88BE, 0, 7, 0x1001, 0, 0, 0}, whole);
    for (const Bytes& frame : {ethernet, ip, erspan}) {
        // Up to the ports of the datagram at least.
        const std::size_t headers_bytes =
            frame.size() - bytes_of("mirrored").size() - udp_header_bytes + 4;
        for (std::size_t bytes = 0; bytes < frame.size(); ++bytes) {
            EXPECT_EQ(group_inside(frame, bytes), bytes < headers_bytes
                                                      ? std::nullopt
                                                      : std::optional{route_of_tests.destination})
                << bytes;
        }
        EXPECT_EQ(group_inside(frame, frame.size()), std::nullopt);
    }
}

TEST(TunnelExit, NeverLeavesTheFrame) {
    std::mt19937_64 random(20261126);
    const Bytes good =
        tunnelled({0x1000, 0x22EB, 0, 7, 0x2001, 0, 0, 0, 0, 1, 0, 0, 0, 0}, mirrored);
    for (int round = 0; round < 20'000; ++round) {
        Bytes frame(good);
        for (std::size_t changes = random() % 4; changes != 0; --changes) {
            frame[12 + random() % 60] = static_cast<std::byte>(random());
        }
        const auto cut_bytes = static_cast<std::uint32_t>(random() % (frame.size() + 1));
        frame.resize(frame.size() - cut_bytes);
        // Exact size, so that AddressSanitizer detects a read beyond its end.
        const Bytes exact(frame);
        TunnelExit tunnel;
        Datagram datagram;
        static_cast<void>(parse_udp(packet_of(tunnel.inside({exact, 0, cut_bytes})),
                                    ChecksumCheck::software, datagram));
    }
}

}  // namespace
}  // namespace pinstrike::nic
