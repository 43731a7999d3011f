// path: cold
#include "nic/packet/datagram.h"

#include "tests/nic/frames.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace pinstrike::nic {
namespace {

std::string_view name_of(Drop drop) {
    return drop == not_dropped ? "not dropped" : row_of(drop).name;
}

/// Parses an exact-size copy, so that AddressSanitizer detects a read beyond its end.
Drop parse(const Bytes& frame, ChecksumCheck check = ChecksumCheck::software,
           Datagram* out = nullptr) {
    const Bytes exact(frame);
    Datagram datagram;
    const Drop drop = parse_udp(packet_of(exact), check, datagram);
    if (out != nullptr) {
        *out = datagram;
        out->payload = {};
    }
    return drop;
}

const Bytes payload = bytes_of("an odd number of bytes.");

Bytes good_frame() {
    return udp_frame(route_of_tests, payload);
}

constexpr std::size_t ip_at = 14;
constexpr std::size_t udp_at = ip_at + 20;

void correct_ip_checksum(Bytes& frame, std::size_t header_bytes = 20) {
    store_be16(frame.data() + ip_at + 10, 0);
    store_checksum(frame.data() + ip_at + 10, checksum_sum(frame.data() + ip_at, header_bytes));
}

TEST(ParseUdp, FindsAddressesPortsAndPayload) {
    const Bytes frame = good_frame();
    Datagram datagram;
    ASSERT_EQ(parse_udp(packet_of(frame), ChecksumCheck::software, datagram), not_dropped);
    EXPECT_EQ(datagram.source_ip, 0x0A000001U);
    EXPECT_EQ(datagram.group_ip, 0xE000CC01U);
    EXPECT_EQ(datagram.source_port, 5000);
    EXPECT_EQ(datagram.port, 45001);
    EXPECT_EQ(text_of(datagram.payload), text_of(payload));
}

TEST(ParseUdp, IgnoresPaddingBehindThePacket) {
    Bytes frame = udp_frame(route_of_tests, bytes_of("x"));
    frame.resize(60, std::byte{0xAA});
    Datagram datagram;
    ASSERT_EQ(parse_udp(packet_of(frame), ChecksumCheck::software, datagram), not_dropped);
    EXPECT_EQ(text_of(datagram.payload), "x");
}

TEST(ParseUdp, TakesAnEmptyPayload) {
    Datagram datagram;
    const Bytes frame = udp_frame(route_of_tests, {});
    ASSERT_EQ(parse_udp(packet_of(frame), ChecksumCheck::software, datagram), not_dropped);
    EXPECT_TRUE(datagram.payload.empty());
}

TEST(ParseUdp, WalksEveryKindOfVlanTag) {
    UdpRoute route = route_of_tests;
    route.vlan = 77;
    Bytes frame = udp_frame(route, payload);
    EXPECT_EQ(parse(frame), not_dropped);
    for (const std::uint16_t outer :
         std::to_array<std::uint16_t>({0x8100, 0x88A8, 0x9100, 0x9200, 0x9300})) {
        Bytes stacked(frame);
        Bytes tag(4);
        store_be16(tag.data(), outer);
        store_be16(tag.data() + 2, 500);
        stacked.insert(stacked.begin() + 12, tag.begin(), tag.end());
        EXPECT_EQ(parse(stacked), not_dropped);
    }
}

/// The frame with a tag behind its addresses. `words`: the tag, in big-endian 16-bit words.
Bytes tagged(const std::vector<std::uint16_t>& words, const Bytes& frame) {
    Bytes tag(words.size() * 2);
    for (std::size_t i = 0; i < words.size(); ++i) {
        store_be16(tag.data() + 2 * i, words[i]);
    }
    Bytes out(frame);
    out.insert(out.begin() + 12, tag.begin(), tag.end());
    return out;
}

const std::vector<std::vector<std::uint16_t>> switch_tags{
    {0x8909, 0x0101, 0x0001, 0x000A},                // Cisco metadata
    {0x893F, 0xE000, 0x0100, 0x0000},                // 802.1BR
    {0x8926, 0x0001, 0x0002},                        // VN-Tag
    {0xD28B, 0x0001, 0x0010, 0x6554, 0xD5E8, 0, 1},  // Arista, 64 bits, TAI
    {0xD28B, 0x0001, 0x0111, 0x6554, 0xD5E8, 0, 1},  // 64 bits, UTC, another series
    {0xD28B, 0x0001, 0x0020, 0xD5E8, 0, 1},          // 48 bits
    {0xD28B, 0x0001, 0x0121, 0xD5E8, 0, 1},
};

TEST(ParseUdp, StepsOverTheTagsOfSwitches) {
    for (const auto& tag : switch_tags) {
        const Bytes frame = tagged(tag, good_frame());
        EXPECT_EQ(name_of(parse(frame)), "not dropped") << tag[0];
        EXPECT_EQ(name_of(parse(tagged({0x8100, 7}, frame))), "not dropped") << tag[0];
        EXPECT_EQ(name_of(parse(tagged(tag, tagged({0x8100, 7}, good_frame())))), "not dropped")
            << tag[0];
        for (std::size_t length = 14; length < 14 + tag.size() * 2; ++length) {
            const Bytes cut(frame.begin(), frame.begin() + static_cast<long>(length));
            EXPECT_EQ(name_of(parse(cut)), "vlan_truncated") << tag[0] << " at " << length;
        }
    }
    EXPECT_EQ(parse(tagged({0xD28B, 0x0002, 0x0010, 0, 0, 0, 0}, good_frame())), Drop::not_ipv4)
        << "another subtype";
    EXPECT_EQ(parse(tagged({0xD28B, 0x0001, 0x0030, 0, 0, 0, 0}, good_frame())), Drop::not_ipv4)
        << "another format";
}

TEST(ParseUdp, RefusesMoreThanFourVlanTags) {
    Bytes frame = good_frame();
    Bytes tag(4);
    store_be16(tag.data(), ethertype::vlan);
    for (std::size_t tags = 1; tags <= vlan_tags_max; ++tags) {
        frame.insert(frame.begin() + 12, tag.begin(), tag.end());
        EXPECT_EQ(parse(frame), not_dropped) << tags;
    }
    frame.insert(frame.begin() + 12, tag.begin(), tag.end());
    EXPECT_EQ(parse(frame), Drop::vlan_depth);
}

TEST(ParseUdp, WalksIpOptions) {
    Bytes frame = good_frame();
    const Bytes options(12, std::byte{1});  // no operation
    frame.insert(frame.begin() + ip_at + 20, options.begin(), options.end());
    frame[ip_at] = std::byte{0x48};
    store_be16(frame.data() + ip_at + 2, static_cast<std::uint16_t>(frame.size() - ip_at));
    correct_ip_checksum(frame, 32);
    EXPECT_EQ(parse(frame), not_dropped);
    frame[ip_at + 25] = std::byte{2};
    EXPECT_EQ(parse(frame), Drop::ip_checksum) << "options are part of the header";
}

TEST(ParseUdp, DistinguishesOtherProtocols) {
    Bytes frame = good_frame();
    store_be16(frame.data() + 12, ethertype::arp);
    EXPECT_EQ(parse(frame), Drop::arp);
    store_be16(frame.data() + 12, ethertype::ipv6);
    frame[ip_at + 6] = std::byte{17};  // UDP
    EXPECT_EQ(parse(frame), Drop::not_ipv4);
    frame[ip_at + 6] = std::byte{58};
    EXPECT_EQ(parse(frame), Drop::ipv6_control);
    frame[ip_at + 6] = std::byte{0};  // hop-by-hop options come first, as in packets of MLD
    frame[ip_at + 40] = std::byte{58};
    EXPECT_EQ(parse(frame), Drop::ipv6_control);
    frame.resize(ip_at + 40);
    EXPECT_EQ(parse(frame), Drop::not_ipv4);
    for (const unsigned type : {0x8808U, 0x8809U, 0x88CCU, 0x0026U, 0x05FFU}) {
        store_be16(frame.data() + 12, static_cast<std::uint16_t>(type));
        EXPECT_EQ(parse(frame), Drop::link_control) << type;
    }
    store_be16(frame.data() + 12, 0x0600);
    EXPECT_EQ(parse(frame), Drop::not_ipv4);
    frame = good_frame();
    for (const unsigned protocol : {89U, 103U, 112U}) {
        frame[ip_at + 9] = static_cast<std::byte>(protocol);
        correct_ip_checksum(frame);
        EXPECT_EQ(parse(frame), Drop::routing) << protocol;
    }
    frame[ip_at + 9] = std::byte{ip_protocol::igmp};
    correct_ip_checksum(frame);
    EXPECT_EQ(parse(frame), Drop::igmp);
    frame[ip_at + 9] = std::byte{6};
    correct_ip_checksum(frame);
    EXPECT_EQ(parse(frame), Drop::not_udp);
}

TEST(ParseUdp, RefusesImpossibleIpHeaders) {
    for (const unsigned first : {0x65U, 0x44U, 0x40U, 0x05U}) {
        Bytes frame = good_frame();
        frame[ip_at] = static_cast<std::byte>(first);
        correct_ip_checksum(frame);
        EXPECT_EQ(parse(frame), Drop::ip_header) << first;
    }
    for (const std::uint16_t total : {std::uint16_t{0}, std::uint16_t{19}}) {
        Bytes frame = good_frame();
        store_be16(frame.data() + ip_at + 2, total);
        EXPECT_EQ(parse(frame), Drop::ip_header) << total;
    }
    Bytes frame = good_frame();
    store_be16(frame.data() + ip_at + 2, static_cast<std::uint16_t>(frame.size() - ip_at + 1));
    EXPECT_EQ(parse(frame), Drop::ip_truncated);
    frame = good_frame();
    frame[ip_at] = std::byte{0x4F};  // options beyond the total length
    frame.resize(60);
    store_be16(frame.data() + ip_at + 2, 46);
    EXPECT_EQ(parse(frame), Drop::ip_header);
}

TEST(ParseUdp, RefusesFragments) {
    for (const std::uint16_t flags :
         std::to_array<std::uint16_t>({0x2000, 0x0001, 0x1FFF, 0x6000})) {
        Bytes frame = good_frame();
        store_be16(frame.data() + ip_at + 6, flags);
        correct_ip_checksum(frame);
        EXPECT_EQ(parse(frame), Drop::fragment) << flags;
    }
    for (const std::uint16_t flags : std::to_array<std::uint16_t>({0x4000, 0x8000, 0x0000})) {
        Bytes frame = good_frame();
        store_be16(frame.data() + ip_at + 6, flags);
        correct_ip_checksum(frame);
        EXPECT_EQ(parse(frame), not_dropped) << flags;
    }
}

TEST(ParseUdp, RefusesWrongUdpLengths) {
    const auto udp_bytes = static_cast<std::uint16_t>(8 + payload.size());
    for (const unsigned length : {0U, 7U, udp_bytes + 1U, 65535U}) {
        Bytes frame = good_frame();
        store_be16(frame.data() + udp_at + 4, static_cast<std::uint16_t>(length));
        EXPECT_EQ(parse(frame), Drop::udp_truncated) << length;
    }
    Bytes frame = good_frame();
    store_be16(frame.data() + ip_at + 2, 27);  // the IP packet ends within the UDP header
    correct_ip_checksum(frame);
    EXPECT_EQ(parse(frame), Drop::udp_truncated);
}

TEST(ParseUdp, TakesAUdpLengthShorterThanThePacket) {
    Bytes frame = udp_frame(route_of_tests, payload, UdpChecksumSent::none);
    store_be16(frame.data() + udp_at + 4, 8 + 4);
    Datagram datagram;
    ASSERT_EQ(parse_udp(packet_of(frame), ChecksumCheck::software, datagram), not_dropped);
    EXPECT_EQ(text_of(datagram.payload), text_of(payload).substr(0, 4));
}

TEST(ParseUdp, EveryPrefixOfAFrameIsDroppedByALength) {
    UdpRoute route = route_of_tests;
    route.vlan = 5;
    const Bytes frame = udp_frame(route, payload);
    for (std::size_t length = 0; length < frame.size(); ++length) {
        const Drop drop = parse(Bytes(frame.begin(), frame.begin() + static_cast<long>(length)));
        const Drop expected = length < 14   ? Drop::frame_truncated
                              : length < 18 ? Drop::vlan_truncated
                                            : Drop::ip_truncated;
        EXPECT_EQ(name_of(drop), name_of(expected)) << length;
    }
}

TEST(ParseUdp, EverySingleBitErrorBehindEthernetIsFound) {
    const Bytes frame = good_frame();
    for (std::size_t bit = ip_at * 8; bit < frame.size() * 8; ++bit) {
        Bytes damaged(frame);
        damaged[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
        EXPECT_NE(parse(damaged), not_dropped) << "bit " << bit;
    }
}

TEST(ParseUdp, AcceptsADatagramSentWithoutChecksum) {
    Bytes frame = udp_frame(route_of_tests, payload, UdpChecksumSent::none);
    EXPECT_EQ(parse(frame), not_dropped);
    frame.back() ^= std::byte{1};
    EXPECT_EQ(parse(frame), not_dropped) << "nothing to check it against";
}

TEST(ParseUdp, ChecksumOfAllOnesStandsForZero) {
    // A payload whose sum makes the checksum 0, which is sent as 0xFFFF (RFC 768).
    Bytes frame = udp_frame(route_of_tests, bytes_of(std::string(2, '\0')));
    const std::uint16_t sum = load_be16(frame.data() + udp_at + 6);
    Bytes complement(2);
    store_be16(complement.data(), sum);
    frame = udp_frame(route_of_tests, complement);
    EXPECT_EQ(load_be16(frame.data() + udp_at + 6), 0xFFFF);
    EXPECT_EQ(parse(frame), not_dropped);
}

struct Verdicts {
    ChecksumCheck check;
    Checksum hardware;
    bool damaged;
    bool dropped;
};

TEST(ParseUdp, HonoursTheHardwareOnlyWhereAsked) {
    using enum Checksum;
    using enum ChecksumCheck;
    const Verdicts table[] = {
        {off, bad, true, false},        {off, unknown, true, false},
        {offload, good, true, false},   {offload, bad, false, true},
        {offload, unknown, true, true}, {offload, unknown, false, false},
        {software, good, true, true},   {software, bad, false, false},
    };
    for (const Verdicts& row : table) {
        Bytes udp_damaged = good_frame();
        Bytes ip_damaged = good_frame();
        if (row.damaged) {
            udp_damaged.back() ^= std::byte{1};
            ip_damaged[ip_at + 8] ^= std::byte{1};  // the time to live
        }
        Packet packet = packet_of(udp_damaged);
        packet.udp_checksum = row.hardware;
        Datagram datagram;
        EXPECT_EQ(parse_udp(packet, row.check, datagram),
                  row.dropped ? Drop::udp_checksum : not_dropped);
        packet = packet_of(ip_damaged);
        packet.ip_checksum = row.hardware;
        EXPECT_EQ(parse_udp(packet, row.check, datagram),
                  row.dropped ? Drop::ip_checksum : not_dropped);
    }
}

TEST(ChecksumSum, EqualsTheDefinitionAtEveryLength) {
    std::mt19937_64 random(20261121);
    Bytes data(3000);
    for (std::byte& byte : data) {
        byte = static_cast<std::byte>(random());
    }
    for (std::size_t length = 0; length < data.size(); length += length < 100 ? 1 : 37) {
        std::uint32_t sum = 0;  // RFC 1071, word by word
        for (std::size_t i = 0; i < length; i += 2) {
            const auto high = std::to_integer<std::uint32_t>(data[i]);
            const auto low = i + 1 < length ? std::to_integer<std::uint32_t>(data[i + 1]) : 0;
            sum += high << 8 | low;
            sum = (sum & 0xFFFF) + (sum >> 16);
        }
        const std::uint16_t folded = checksum_fold(checksum_sum(data.data(), length));
        EXPECT_EQ(__builtin_bswap16(folded), sum) << length;
    }
}

TEST(ChecksumSum, OfAHeaderIsThatOfItsBytes) {
    std::mt19937_64 random(20261124);
    for (std::size_t length = ipv4_header_bytes_min; length <= 60; length += 4) {
        for (int round = 0; round < 100; ++round) {
            Bytes header(length);
            for (std::byte& byte : header) {
                byte = static_cast<std::byte>(random());
            }
            ASSERT_EQ(checksum_fold(ipv4_header_sum(header.data(), length)),
                      checksum_fold(checksum_sum(header.data(), length)))
                << length;
        }
    }
}

TEST(ChecksumSum, IsWholeWhereItFoldsToAllOnes) {
    std::mt19937_64 random(20261125);
    for (int round = 0; round < 100'000; ++round) {
        const ChecksumSum sum = (random() >> (random() % 48)) + 1;
        ASSERT_EQ(checksum_is_whole(sum), checksum_fold(sum) == 0xFFFF) << sum;
        const ChecksumSum whole = sum % (std::uint64_t{1} << 47) * 0xFFFF + 0xFFFF;
        ASSERT_TRUE(checksum_is_whole(whole) && checksum_fold(whole) == 0xFFFF) << whole;
    }
}

/// Frames with the common headers take the fast path.
TEST(ParseUdp, SaysOfAPlainFrameWhatItWouldOfAnyOther) {
    std::mt19937_64 random(11);
    int plain = 0;
    for (int round = 0; round < 50'000; ++round) {
        Bytes frame = good_frame();
        const std::size_t changes = random() % 4;
        for (std::size_t i = 0; i < changes; ++i) {
            frame[random() % frame.size()] = static_cast<std::byte>(random());
        }
        if (random() % 8 == 0) {
            frame.resize(random() % (frame.size() + 1));
        }
        if (random() % 2 == 0 && frame.size() >= udp_at) {
            correct_ip_checksum(frame);
        }
        const Packet packet = packet_of(frame);
        plain += has_common_headers(packet.frame()) ? 1 : 0;
        for (const auto check : {ChecksumCheck::software, ChecksumCheck::off}) {
            Datagram one;
            Datagram other;
            const Drop drop = parse_udp(packet, check, one);
            ASSERT_EQ(name_of(drop), name_of(parse_unusual_udp(packet, check, other)));
            if (drop == not_dropped) {
                ASSERT_EQ(one.source_ip, other.source_ip);
                ASSERT_EQ(one.group_ip, other.group_ip);
                ASSERT_EQ(one.source_port, other.source_port);
                ASSERT_EQ(one.port, other.port);
                ASSERT_EQ(one.payload.data(), other.payload.data());
                ASSERT_EQ(one.payload.size(), other.payload.size());
            }
        }
    }
    EXPECT_GT(plain, 10'000);
    EXPECT_LT(plain, 49'000);
}

TEST(ParseUdp, RandomBytesNeverCrash) {
    std::mt19937_64 random(7);
    for (int round = 0; round < 20'000; ++round) {
        Bytes frame = good_frame();
        const std::size_t changes = 1 + random() % 4;
        for (std::size_t i = 0; i < changes; ++i) {
            frame[random() % frame.size()] = static_cast<std::byte>(random());
        }
        frame.resize(random() % (frame.size() + 1));
        Datagram datagram;
        if (parse_udp(packet_of(frame), ChecksumCheck::off, datagram) == not_dropped) {
            ASSERT_GE(datagram.payload.data(), frame.data());
            ASSERT_LE(datagram.payload.data() + datagram.payload.size(),
                      frame.data() + frame.size());
        }
    }
}

TEST(Drops, EveryRowHasAName) {
    for (const Row& row : Drop_rows) {
        EXPECT_FALSE(row.name.empty());
        EXPECT_FALSE(row.sentence.empty());
        EXPECT_EQ(row.unit, "packets");
    }
}

}  // namespace
}  // namespace pinstrike::nic
