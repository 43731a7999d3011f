// path: cold
#include "nic/multicast/membership.h"

#include "config/time_units.h"
#include "nic/capture/capture_writer.h"
#include "nic/multicast/igmp.h"
#include "nic/packet/datagram.h"
#include "tests/nic/frames.h"
#include "tests/nic/multicast/igmp_queries.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <map>
#include <set>

namespace pinstrike::nic {
namespace {

const IgmpHost host{Ipv4{0x0A000005}, Mac{{2, 0, 0, 0, 0, 5}}, 0};

/// The fields of an IGMP frame, read at the offsets that the RFCs give.
struct Sent {
    unsigned type = 0;
    std::uint32_t destination = 0;
    Mac mac;
    std::vector<std::pair<unsigned, std::uint32_t>> records;  ///< (type, group); v1, v2: (0, group)
};

Sent take_apart(std::span<const std::byte> frame) {
    Ipv4Packet ip;
    EXPECT_EQ(walk_ipv4(frame, ip), not_dropped);
    EXPECT_EQ(ip.header_bytes, 24U);
    EXPECT_EQ(std::to_integer<int>(ip.bytes[8]), 1) << "time to live";
    EXPECT_EQ(load_be32(ip.bytes.data() + 20), 0x94040000U) << "router alert";
    EXPECT_EQ(checksum_fold(checksum_sum(ip.bytes.data(), 24)), 0xFFFF);
    const std::span<const std::byte> message = ip.content();
    EXPECT_EQ(checksum_fold(checksum_sum(message.data(), message.size())), 0xFFFF);
    Sent sent;
    sent.type = std::to_integer<unsigned>(message[0]);
    sent.destination = load_be32(ip.bytes.data() + 16);
    std::memcpy(sent.mac.octets.data(), frame.data(), 6);
    if (sent.type != 0x22) {
        sent.records.emplace_back(0U, load_be32(message.data() + 4));
        return sent;
    }
    const std::size_t count = load_be16(message.data() + 6);
    EXPECT_EQ(message.size(), 8 + 8 * count);
    for (std::size_t i = 0; i < count && 16 + 8 * i <= message.size(); ++i) {
        const std::byte* record = message.data() + 8 + 8 * i;
        EXPECT_EQ(load_be16(record + 2), 0) << "number of sources";
        sent.records.emplace_back(std::to_integer<unsigned>(record[0]), load_be32(record + 4));
    }
    return sent;
}

class Recorder final : public ReportSender {
  public:
    void send(std::span<const std::byte> frame) override {
        EXPECT_LE(frame.size(), igmp_frame_bytes_max);
        frames.emplace_back(frame.begin(), frame.end());
        sent.push_back(take_apart(frame));
    }

    std::vector<Bytes> frames;
    std::vector<Sent> sent;
};

MembershipConfig config_of(std::size_t groups_count, unsigned version = 3) {
    MembershipConfig config;
    for (std::uint32_t i = 0; i < groups_count; ++i) {
        config.groups.push_back(Ipv4{0xE000CC00 + i});
    }
    config.host = host;
    config.version = version;
    return config;
}

TEST(ParseIgmpQuery, DistinguishesVersions) {
    const auto v1 = parse_igmp_query(v1_query());
    ASSERT_TRUE(v1);
    EXPECT_EQ(v1->version, 1U);
    EXPECT_EQ(v1->max_response_ns, 10 * second_ns);
    const auto v2 = parse_igmp_query(v2_query(25, Ipv4{0xE000CC01}));
    ASSERT_TRUE(v2);
    EXPECT_EQ(v2->version, 2U);
    EXPECT_EQ(v2->group.value, 0xE000CC01U);
    EXPECT_EQ(v2->max_response_ns, 2'500'000'000);
    const auto v3 = parse_igmp_query(v3_query(127));
    ASSERT_TRUE(v3);
    EXPECT_EQ(v3->version, 3U);
    EXPECT_EQ(v3->max_response_ns, 12'700'000'000);
    // RFC 3376, 4.1.1: exponent 7, mantissa 15 is the longest time.
    EXPECT_EQ(parse_igmp_query(v3_query(0xFF))->max_response_ns, 31744 * second_ns / 10);
    EXPECT_EQ(parse_igmp_query(v3_query(0x80))->max_response_ns, 128 * second_ns / 10);
}

TEST(ParseIgmpQuery, RefusesEverythingElse) {
    const Bytes good = v3_query(100);
    for (std::size_t length = 0; length < good.size(); ++length) {
        const Bytes prefix(good.begin(), good.begin() + static_cast<long>(length));
        EXPECT_FALSE(parse_igmp_query(prefix)) << length;
    }
    for (std::size_t bit = 14 * 8; bit < good.size() * 8; ++bit) {
        Bytes damaged(good);
        damaged[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
        EXPECT_FALSE(parse_igmp_query(damaged)) << "bit " << bit;
    }
    EXPECT_FALSE(parse_igmp_query(query_frame(message_of(100, {}, 10)))) << "no query's length";
    std::array<std::byte, igmp_frame_bytes_max> buffer{};
    const std::size_t bytes = write_message(buffer, host, IgmpMessage::v2_report, Ipv4{0xE000CC01});
    EXPECT_FALSE(parse_igmp_query(std::span(buffer).first(bytes))) << "a report";
    EXPECT_FALSE(parse_igmp_query(udp_frame(route_of_tests, {})));
}

TEST(WriteReports, PutEveryFieldInItsPlace) {
    std::array<std::byte, igmp_frame_bytes_max> buffer{};
    const std::array groups{Ipv4{0xE000CC01}, Ipv4{0xE07FCC02}};
    std::size_t bytes = write_v3_report(buffer, host, IgmpRecord::join, groups);
    Sent sent = take_apart(std::span(buffer).first(bytes));
    EXPECT_EQ(sent.destination, 0xE0000016U);
    EXPECT_EQ(sent.mac, (Mac{{1, 0, 0x5E, 0, 0, 0x16}}));
    EXPECT_EQ(sent.records, (std::vector<std::pair<unsigned, std::uint32_t>>{
                                {4, groups[0].value}, {4, groups[1].value}}));
    bytes = write_message(buffer, host, IgmpMessage::v2_report, Ipv4{0xE08FCC02});
    sent = take_apart(std::span(buffer).first(bytes));
    EXPECT_EQ(sent.type, 0x16U);
    EXPECT_EQ(sent.destination, 0xE08FCC02U);
    EXPECT_EQ(sent.mac, (Mac{{1, 0, 0x5E, 0x0F, 0xCC, 2}})) << "the low 23 bits";
    bytes = write_message(buffer, host, IgmpMessage::v2_leave, groups[0]);
    sent = take_apart(std::span(buffer).first(bytes));
    EXPECT_EQ(sent.type, 0x17U);
    EXPECT_EQ(sent.destination, 0xE0000002U);
    bytes = write_message(buffer, host, IgmpMessage::v1_report, groups[0]);
    EXPECT_EQ(take_apart(std::span(buffer).first(bytes)).type, 0x12U);
}

TEST(WriteReports, CarryTheVlanTag) {
    IgmpHost tagged = host;
    tagged.vlan = 300;
    std::array<std::byte, igmp_frame_bytes_max> buffer{};
    const std::vector<Ipv4> groups(igmp_report_groups_max, Ipv4{0xE000CC01});
    const std::size_t bytes = write_v3_report(buffer, tagged, IgmpRecord::join, groups);
    EXPECT_LE(bytes, igmp_frame_bytes_max);
    EXPECT_EQ(load_be16(buffer.data() + 12), 0x8100);
    EXPECT_EQ(load_be16(buffer.data() + 14), 300);
    EXPECT_EQ(take_apart(std::span(buffer).first(bytes)).records.size(), groups.size());
}

TEST(GroupMembership, AnnouncesTwiceInFewFrames) {
    GroupMembership membership(config_of(200), 1);
    Recorder wire;
    membership.announce(0);
    membership.step(0, wire);
    EXPECT_EQ(wire.sent.size(), 2U) << "200 groups, 183 a frame";
    for (std::int64_t now = 0; now <= 30 * second_ns; now += second_ns / 100) {
        membership.step(now, wire);
    }
    ASSERT_EQ(wire.sent.size(), 4U);
    std::map<std::uint32_t, int> joins;
    for (const Sent& sent : wire.sent) {
        for (const auto& [record, group] : sent.records) {
            EXPECT_EQ(record, 4U);
            ++joins[group];
        }
    }
    EXPECT_EQ(joins.size(), 200U);
    EXPECT_TRUE(std::all_of(joins.begin(), joins.end(), [](auto& j) { return j.second == 2; }));
}

TEST(GroupMembership, ListsAGroupOnceThoughItHasSeveralPorts) {
    MembershipConfig config = config_of(3);
    config.groups.push_back(config.groups.front());
    EXPECT_EQ(GroupMembership(config, 1).groups_count(), 3U);
}

TEST(GroupMembership, AnswersAGeneralQueryWithinItsTime) {
    std::set<std::int64_t> delays_ms;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        GroupMembership membership(config_of(96), seed);
        Recorder wire;
        const std::int64_t asked = 5 * second_ns;
        membership.on_frame(v3_query(100), asked);
        std::int64_t now = asked;
        for (; wire.sent.empty() && now <= asked + 11 * second_ns; now += second_ns / 100) {
            membership.step(now, wire);
        }
        ASSERT_EQ(wire.sent.size(), 1U);
        EXPECT_EQ(wire.sent[0].records.size(), 96U);
        EXPECT_EQ(wire.sent[0].records[0].first, 2U) << "MODE_IS_EXCLUDE";
        EXPECT_LE(now - asked, 10 * second_ns + second_ns / 50);
        delays_ms.insert((now - asked) / 1'000'000);
    }
    EXPECT_GT(delays_ms.size(), 10U) << "delays are spread";
}

TEST(GroupMembership, AnswersAGroupQueryForThatGroupAlone) {
    GroupMembership membership(config_of(96), 3);
    Recorder wire;
    membership.on_frame(v3_query(10, Ipv4{0xE000CC07}), 0);
    membership.on_frame(v3_query(10, Ipv4{0xE0FFFFFF}), 0);  // a group that is not joined
    membership.step(second_ns, wire);
    ASSERT_EQ(wire.sent.size(), 1U);
    EXPECT_EQ(wire.sent[0].records,
              (std::vector<std::pair<unsigned, std::uint32_t>>{{2, 0xE000CC07}}));
    membership.step(20 * second_ns, wire);
    EXPECT_EQ(wire.sent.size(), 1U) << "one answer a query";
}

TEST(GroupMembership, ALaterQueryNeverDelaysAPendingAnswer) {
    GroupMembership membership(config_of(1), 9);
    Recorder wire;
    membership.on_frame(v3_query(10), 0);
    membership.on_frame(v3_query(0xFF), 0);
    membership.step(second_ns, wire);
    EXPECT_EQ(wire.sent.size(), 1U);
}

TEST(GroupMembership, FallsBackToAnOlderQuerierAndReturns) {
    GroupMembership membership(config_of(5), 4);
    Recorder wire;
    membership.on_frame(v2_query(10), 0);
    EXPECT_EQ(membership.version(0), 2U);
    membership.step(second_ns, wire);
    ASSERT_EQ(wire.sent.size(), 5U);
    EXPECT_EQ(wire.sent[0].type, 0x16U);
    membership.on_frame(v1_query(), 2 * second_ns);
    EXPECT_EQ(membership.version(2 * second_ns), 1U);
    membership.step(13 * second_ns, wire);
    ASSERT_EQ(wire.sent.size(), 10U);
    EXPECT_EQ(wire.sent[5].type, 0x12U);
    membership.on_frame(v3_query(10), 20 * second_ns);
    EXPECT_EQ(membership.version(20 * second_ns), 1U) << "the older querier may still be there";
    EXPECT_EQ(membership.version(261 * second_ns), 1U) << "silent for 259 s";
    EXPECT_EQ(membership.version(263 * second_ns), 3U) << "silent for 260 s";
}

TEST(GroupMembership, SpeaksNoNewerVersionThanConfigured) {
    GroupMembership membership(config_of(2, 2), 5);
    Recorder wire;
    membership.announce(0);
    membership.on_frame(v3_query(10), 0);
    membership.step(second_ns, wire);
    ASSERT_EQ(wire.sent.size(), 4U);
    for (const Sent& sent : wire.sent) {
        EXPECT_EQ(sent.type, 0x16U);
    }
}

TEST(GroupMembership, SpreadsManyFramesOverSteps) {
    GroupMembership membership(config_of(200, 2), 6);
    Recorder wire;
    membership.announce(0);
    membership.step(0, wire);
    EXPECT_EQ(wire.sent.size(), GroupMembership::frames_per_step_max);
    for (int i = 0; i < 10; ++i) {
        membership.step(1, wire);
    }
    EXPECT_EQ(wire.sent.size(), 200U);
}

TEST(GroupMembership, SpreadsReportsAndAnswersTogether) {
    GroupMembership membership(config_of(200, 2), 6);
    Recorder wire;
    membership.on_frame(v2_query(1), 0);
    membership.announce(0);
    membership.step(second_ns, wire);
    EXPECT_EQ(wire.sent.size(), GroupMembership::frames_per_step_max);
}

TEST(GroupMembership, AFloodOfQueriesIsNotAnsweredByAFlood) {
    GroupMembership membership(config_of(10), 8);
    Recorder wire;
    const Bytes urgent = v3_query(0);
    for (std::int64_t now = 0; now < second_ns; now += 100'000) {
        membership.on_frame(urgent, now);
        membership.step(now, wire);
    }
    EXPECT_LE(wire.sent.size(), 11U);
    EXPECT_GE(wire.sent.size(), 5U);
}

TEST(GroupMembership, LeavesInTheVersionSpoken) {
    GroupMembership v3(config_of(200), 1);
    Recorder wire;
    v3.announce(0);
    v3.leave(0, wire);
    ASSERT_EQ(wire.sent.size(), 2U);
    EXPECT_EQ(wire.sent[0].records[0].first, 3U) << "CHANGE_TO_INCLUDE";
    v3.step(30 * second_ns, wire);
    EXPECT_EQ(wire.sent.size(), 2U) << "nothing is planned after the end";
    GroupMembership v2(config_of(3, 2), 1);
    v2.leave(0, wire);
    ASSERT_EQ(wire.sent.size(), 5U);
    EXPECT_EQ(wire.sent[2].type, 0x17U);
}

/// The values of these fields in every frame of the capture, as tshark prints them; nullopt if
/// there is no tshark.
std::optional<std::string> tshark(const std::string& capture, const std::string& fields) {
    const std::string command =
        "tshark -o ip.check_checksum:TRUE -r " + capture + " -T fields " + fields + " 2>/dev/null";
    std::FILE* pipe = popen(command.c_str(), "r");
    std::string text;
    std::array<char, 4096> piece{};
    while (std::size_t count = std::fread(piece.data(), 1, piece.size(), pipe)) {
        text.append(piece.data(), count);
    }
    return pclose(pipe) == 0 ? std::optional(text) : std::nullopt;
}

TEST(GroupMembership, FramesReadTheSameInWireshark) {
    Recorder wire;
    GroupMembership membership(config_of(2), 1);
    membership.announce(0);
    membership.step(0, wire);
    membership.leave(0, wire);
    membership.on_frame(v2_query(1), 0);
    membership.step(second_ns, wire);
    membership.leave(second_ns, wire);
    const ScratchDirectory scratch;
    Problems problems;
    auto writer = CaptureWriter::open(scratch.file("igmp.pcap"), problems);
    ASSERT_TRUE(writer);
    for (const Bytes& frame : wire.frames) {
        writer->write(frame, 0);
    }
    ASSERT_TRUE(writer->close(problems));
    const auto text = tshark(scratch.file("igmp.pcap"),
                             "-E separator=/s -e igmp.version -e igmp.type -e igmp.checksum.status "
                             "-e ip.checksum.status -e ip.ttl -e ip.opt.ra -e igmp.maddr");
    if (!text) {
        GTEST_SKIP() << "tshark is not installed";
    }
    EXPECT_EQ(*text,
              "3 0x22 1 1 1 0 224.0.204.0,224.0.204.1\n"
              "3 0x22 1 1 1 0 224.0.204.0,224.0.204.1\n"
              "2 0x16 1 1 1 0 224.0.204.0\n"
              "2 0x16 1 1 1 0 224.0.204.1\n"
              "2 0x17 1 1 1 0 224.0.204.0\n"
              "2 0x17 1 1 1 0 224.0.204.1\n");
}

}  // namespace
}  // namespace pinstrike::nic
