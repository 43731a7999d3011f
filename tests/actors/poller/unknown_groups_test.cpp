// path: cold
#include "actors/poller/unknown_groups.h"

#include <gtest/gtest.h>

#include <random>

namespace pinstrike::actors {
namespace {

nic::Datagram to(std::uint32_t group, std::uint16_t port, std::uint32_t from = 0xA245'2C04) {
    nic::Datagram datagram;
    datagram.group_ip = group;
    datagram.port = port;
    datagram.source_ip = from;
    return datagram;
}

TEST(UnknownGroups, areReportedByFrequencyWithWhoSentLast) {
    UnknownGroups groups;
    EXPECT_TRUE(groups.most_frequent().empty());
    groups.count(to(0xEF01'0404, 31004, 1));
    for (int i = 0; i < 3; ++i) {
        groups.count(to(0xEF01'0404, 31005));
    }
    groups.count(to(0xEF01'0404, 31004));
    groups.count(to(0, 0));
    EXPECT_EQ(to_text(groups.most_frequent()),
              "239.1.4.4:31005 from 162.69.44.4, 3 packets; 239.1.4.4:31004 from 162.69.44.4, 2 "
              "packets; 0.0.0.0:0 from 162.69.44.4, 1 packet");
}

TEST(UnknownGroups, areEightAtMost) {
    UnknownGroups groups;
    for (std::uint32_t group = 1; group <= 20; ++group) {
        for (std::uint32_t i = 0; i < group; ++i) {
            groups.count(to(0xEF00'0000 + group, 45000));
        }
    }
    const auto reported = groups.most_frequent();
    ASSERT_EQ(reported.size(), UnknownGroups::reported_max);
    for (std::uint32_t i = 0; i < reported.size(); ++i) {
        EXPECT_EQ(reported[i].group.address.value, 0xEF00'0000 + 20 - i);
        EXPECT_EQ(reported[i].packets, 20 - i);
    }
}

/// Packets of all lines of the venue, mixed with as many packets to new destinations.
TEST(UnknownGroups, theFrequentAreFoundAmongAnyNumberOfOthers) {
    UnknownGroups groups;
    std::mt19937 random(20261126);
    constexpr std::uint64_t packets = 20'000;
    for (std::uint64_t i = 0; i < packets; ++i) {
        for (std::uint16_t line = 1; line <= 8; ++line) {
            groups.count(to(0xE000'CC00U + line, static_cast<std::uint16_t>(45000 + line)));
            groups.count(
                to(static_cast<std::uint32_t>(random()), static_cast<std::uint16_t>(random())));
        }
    }
    const auto reported = groups.most_frequent();
    ASSERT_EQ(reported.size(), 8U);
    for (const UnknownGroup& each : reported) {
        EXPECT_EQ(each.group.address.value >> 8, 0xE000CCU) << to_text(reported);
        EXPECT_LE(each.packets, packets);
        EXPECT_GT(each.packets, packets * 9 / 10);
    }
}

}  // namespace
}  // namespace pinstrike::actors
