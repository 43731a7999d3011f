// path: cold
#include "config/check.h"
#include "nic/packet/datagram.h"
#include "nic/packet/udp_frame_writer.h"
#include "tests/fuzz/fuzz.h"

#include <vector>

namespace {

using namespace pinstrike;
using namespace pinstrike::nic;

void payload_lies_within(const Packet& packet, const Datagram& datagram) {
    const std::span<const std::byte> frame = packet.frame();
    PINSTRIKE_CHECK(datagram.payload.data() >= frame.data() + udp_headers_bytes(0));
    PINSTRIKE_CHECK(datagram.payload.data() + datagram.payload.size() <=
                    frame.data() + frame.size());
}

/// A datagram that was parsed can be written to a frame and parsed again.
void survives_a_round_trip(const Datagram& datagram) {
    UdpRoute route;
    route.source = Ipv4{datagram.source_ip};
    route.source_port = datagram.source_port;
    route.destination = {Ipv4{datagram.group_ip}, datagram.port};
    std::vector<std::byte> frame(udp_headers_bytes(0));
    frame.insert(frame.end(), datagram.payload.begin(), datagram.payload.end());
    write_udp_headers(frame.data(), route, datagram.payload.size(), UdpChecksumSent::computed);
    Packet packet;
    packet.bytes = frame.data();
    packet.length_bytes = static_cast<std::uint32_t>(frame.size());
    Datagram again;
    PINSTRIKE_CHECK(parse_udp(packet, ChecksumCheck::software, again) == not_dropped);
    PINSTRIKE_CHECK(again.source_ip == datagram.source_ip && again.port == datagram.port);
    PINSTRIKE_CHECK(again.payload.size() == datagram.payload.size());
}

}  // namespace

int fuzz_one(std::span<const std::byte> bytes) {
    Packet packet;
    packet.bytes = bytes.data();
    packet.length_bytes = static_cast<std::uint32_t>(bytes.size());
    Datagram checked;
    Datagram unchecked;
    const Drop strict = parse_udp(packet, ChecksumCheck::software, checked);
    const Drop lenient = parse_udp(packet, ChecksumCheck::off, unchecked);
    PINSTRIKE_CHECK(strict != not_dropped || lenient == not_dropped);
    if (lenient == not_dropped) {
        payload_lies_within(packet, unchecked);
        survives_a_round_trip(unchecked);
    }
    return 0;
}
