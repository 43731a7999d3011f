// path: cold
#include "feed/opra/traffic/delivery.h"

#include "feed/opra/lines.h"
#include "feed/opra/opra.h"
#include "feed/opra/traffic/truth_account.h"
#include "nic/packet/datagram.h"
#include "tests/feed/opra/traffic/collected.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <map>
#include <set>
#include <sstream>

namespace pinstrike::feed::opra::traffic {
namespace {

struct Arrived {
    std::vector<std::byte> frame;
    std::int64_t ts_ns;
};

class Keep final : public PacketSink {
  public:
    void packet(std::span<const std::byte> frame, std::int64_t ts_arrival_ns) override {
        packets.push_back({{frame.begin(), frame.end()}, ts_arrival_ns});
    }

    std::vector<Arrived> packets;
};

struct Delivered {
    std::vector<Arrived> packets;
    nlohmann::json account;
    std::int64_t longest_hole_ns = 0;
};

Delivered run(const TrafficConfig& config, const std::vector<LineConfig>& lines) {
    Keep keep;
    AccountTruth account;
    Delivery delivery{config, lines, "AB", keep, &account};
    TrafficSession{config, lines, delivery}.run();
    delivery.finish();
    std::stringstream text;
    account.write(text);
    return {std::move(keep.packets), nlohmann::json::parse(text), delivery.longest_hole_ns()};
}

/// The datagram of a frame; nullopt if a checksum is wrong.
std::optional<nic::Datagram> datagram_of(const Arrived& arrived) {
    nic::Packet packet;
    packet.bytes = arrived.frame.data();
    packet.length_bytes = static_cast<std::uint32_t>(arrived.frame.size());
    nic::Datagram datagram;
    if (nic::parse_udp(packet, nic::ChecksumCheck::software, datagram) != nic::not_dropped) {
        return std::nullopt;
    }
    return datagram;
}

struct Place {
    std::uint16_t line;
    Stream stream;
};

std::map<nic::Group, Place> places_of(const std::vector<LineConfig>& lines) {
    std::map<nic::Group, Place> places;
    for (const LineConfig& line : lines) {
        places[line.streams[0]] = {line.number, Stream::a};
        places[line.streams[1]] = {line.number, Stream::b};
    }
    return places;
}

std::vector<LineConfig> some_lines() {
    const std::vector<std::uint16_t> numbers{1, 24, 25, 96, 204, 220};
    return published_lines(numbers);
}

TEST(Delivery, FramesLookLikeTheRealOnes) {
    TrafficConfig config = small_day();
    config.messages_count = 5'000;
    const auto lines = some_lines();
    const Delivered made = run(config, lines);
    const auto where = places_of(lines);
    std::int64_t latest_ns = 0;
    std::map<std::pair<std::uint16_t, Stream>, std::vector<std::byte>> bytes;
    for (const Arrived& arrived : made.packets) {
        EXPECT_GE(arrived.ts_ns, latest_ns);
        latest_ns = arrived.ts_ns;
        const auto datagram = datagram_of(arrived);
        ASSERT_TRUE(datagram);
        const auto place = where.find({{datagram->group_ip}, datagram->port});
        ASSERT_NE(place, where.end());
        EXPECT_EQ(datagram->source_port, datagram->port);
        const auto sources = published_sources(place->second.line, place->second.stream);
        ASSERT_TRUE(sources);
        EXPECT_TRUE((*sources)[0].contains(datagram->source_ip));
        EXPECT_EQ(arrived.frame[0], std::byte{0x01});   // a multicast address
        EXPECT_EQ(arrived.frame[15], std::byte{0xB8});  // DSCP EF
        EXPECT_EQ(arrived.frame[22], std::byte{119});   // time to live
        auto& stream = bytes[{place->second.line, place->second.stream}];
        stream.insert(stream.end(), datagram->payload.begin(), datagram->payload.end());
    }
    for (const LineConfig& line : lines) {
        EXPECT_FALSE((bytes[{line.number, Stream::a}].empty())) << line.number;
        EXPECT_EQ((bytes[{line.number, Stream::a}]), (bytes[{line.number, Stream::b}]));
    }
    EXPECT_TRUE(made.account["lossless"].get<bool>());
    EXPECT_EQ(made.longest_hole_ns, 0);
}

TEST(Delivery, TheDisasterSiteSendsFromItsOwnSubnets) {
    TrafficConfig config = small_day();
    config.messages_count = 3'000;
    config.disaster = true;
    const auto lines = some_lines();
    const auto where = places_of(lines);
    std::set<bool> primary;
    for (const Arrived& arrived : run(config, lines).packets) {
        const auto datagram = datagram_of(arrived);
        ASSERT_TRUE(datagram);
        const Place place = where.at({{datagram->group_ip}, datagram->port});
        const auto sources = published_sources(place.line, place.stream);
        primary.insert((*sources)[0].contains(datagram->source_ip));
        EXPECT_TRUE((*sources)[0].contains(datagram->source_ip) ||
                    (*sources)[1].contains(datagram->source_ip));
    }
    EXPECT_EQ(primary.size(), 2U);
}

/// The content that arrived undamaged, read with the production parser.
struct Heard {
    std::map<std::uint16_t, std::set<std::uint32_t>> numbers;
    std::map<std::pair<std::uint16_t, Stream>, std::uint64_t> messages;
    std::size_t damaged = 0;
};

Heard hear(const Delivered& made, const std::vector<LineConfig>& lines) {
    const auto where = places_of(lines);
    Heard heard;
    for (const Arrived& arrived : made.packets) {
        const auto datagram = datagram_of(arrived);
        if (!datagram) {
            ++heard.damaged;
            continue;
        }
        const Place place = where.at({{datagram->group_ip}, datagram->port});
        Opra::Scratch scratch;
        Block block;
        EXPECT_TRUE(Opra::check(datagram->payload, true, scratch, block).accepted);
        if (block.role == BlockRole::data) {
            heard.messages[{place.line, place.stream}] += block.messages;
            for (unsigned i = 0; i < block.messages; ++i) {
                heard.numbers[place.line].insert(sequence_of(serial_of(block.sequence), i));
            }
        }
    }
    return heard;
}

TEST(Delivery, TheAccountSaysWhatArrived) {
    TrafficConfig config = small_day();
    config.messages_count = 60'000;
    config.test_symbols = 0.02;
    config.a = {0.05, 0.02, 0.05, 0.03, 0, 200'000};
    config.b = {0.08, 0.02, 0.05, 0.03, 150'000, 200'000};
    const auto lines = some_lines();
    const Delivered made = run(config, lines);
    const Heard heard = hear(made, lines);
    EXPECT_GT(heard.damaged, 0U);
    EXPECT_GT(made.longest_hole_ns, 0);
    EXPECT_FALSE(made.account["lossless"].get<bool>());
    std::uint64_t lost = 0, corrupt = 0, filtered = 0;
    for (const auto& line : made.account["lines"]) {
        const auto number = line["line"].get<std::uint16_t>();
        const auto& numbers = heard.numbers.at(number);
        EXPECT_EQ(line["delivered"], numbers.size());
        EXPECT_EQ(line["streams"]["A"]["messages"], (heard.messages.at({number, Stream::a})));
        EXPECT_EQ(line["streams"]["B"]["messages"], (heard.messages.at({number, Stream::b})));
        std::set<std::uint32_t> missing;
        std::uint32_t first = number == 220 ? *numbers.begin() : 1;
        for (; first < *numbers.rbegin(); ++first) {
            if (!numbers.contains(first)) {
                missing.insert(first);
            }
        }
        std::set<std::uint32_t> reported;
        std::int64_t before = -1;
        for (const auto& gap : line["gaps"]) {
            EXPECT_GT(gap[0].get<std::int64_t>(), before + 1) << "adjacent ranges are one";
            before = gap[1].get<std::int64_t>();
            for (auto at = gap[0].get<std::uint32_t>(); at <= gap[1].get<std::uint32_t>(); ++at) {
                reported.insert(at);
            }
        }
        EXPECT_EQ(reported, missing) << number;
        EXPECT_EQ(line["lost"], missing.size());
        EXPECT_EQ(line["highest"], numbers.size() + missing.size());
        lost += missing.size();
        filtered += line["filtered"].get<std::uint64_t>();
        for (const char* stream : {"A", "B"}) {
            corrupt += line["streams"][stream]["corrupt_packets"].get<std::uint64_t>();
        }
    }
    EXPECT_GT(lost, 0U);
    EXPECT_GT(filtered, 0U);
    EXPECT_EQ(corrupt, heard.damaged);
}

TEST(Delivery, WhatBothStreamsLostComesAgainAmidWhatOthersAskedFor) {
    TrafficConfig config = small_day();
    config.a.loss = config.b.loss = 0.2;
    const auto lines = some_lines();
    const Delivered once = run(config, lines);
    config.retransmitted = 1;
    config.retransmitted_to_others = 0.1;
    const Delivered again = run(config, lines);

    const auto streams = places_of(lines);
    std::vector<std::vector<std::byte>> before, after;
    std::map<std::uint16_t, std::uint64_t> retransmitted;
    for (const Arrived& arrived : once.packets) {
        before.push_back(arrived.frame);
    }
    for (const Arrived& arrived : again.packets) {
        const auto datagram = datagram_of(arrived);
        ASSERT_TRUE(datagram);
        if (streams.contains({{datagram->group_ip}, datagram->port})) {
            after.push_back(arrived.frame);
            continue;
        }
        Opra::Scratch scratch;
        Block block;
        ASSERT_TRUE(Opra::check(datagram->payload, true, scratch, block).accepted);
        EXPECT_TRUE(block.retransmitted);
        const auto line = std::find_if(lines.begin(), lines.end(), [&](const LineConfig& each) {
            const nic::Group group{{datagram->group_ip}, datagram->port};
            return each.retransmission[0] == group || each.retransmission[1] == group;
        });
        ASSERT_NE(line, lines.end());
        retransmitted[line->number] += block.messages;
    }
    EXPECT_EQ(before, after) << "the streams are as they were";

    for (std::size_t i = 0; i < once.account["lines"].size(); ++i) {
        const auto& lossy = once.account["lines"][i];
        const auto& repaired = again.account["lines"][i];
        EXPECT_GT(lossy["lost"], 0);
        EXPECT_EQ(repaired["lost"], 0);
        EXPECT_EQ(repaired["delivered"], lossy["highest"]);
        EXPECT_EQ(repaired["repaired"], lossy["lost"]);
        EXPECT_EQ(
            repaired["repaired"].get<std::uint64_t>() + repaired["unasked"].get<std::uint64_t>(),
            retransmitted[repaired["line"].get<std::uint16_t>()]);
    }
}

TEST(Delivery, EveryResetAndStartOfDayArrivesOnSomeStream) {
    TrafficConfig config = small_day();
    config.messages_count = 8'000;
    config.restarts_count = 20;
    config.a.loss = 0.6;
    config.b.loss = 0.6;
    const std::vector<std::uint16_t> numbers{1, 2, 3};
    const auto lines = published_lines(numbers);
    std::set<std::pair<std::uint16_t, std::int64_t>> sent, arrived;
    for (const KeptBlock& block : blocks_of(config, lines)) {
        if (block.role == BlockRole::reset || block.role == BlockRole::start_of_day) {
            sent.emplace(block.line, block.ts_ns);
        }
    }
    const auto where = places_of(lines);
    const Delivered made = run(config, lines);
    for (const Arrived& one : made.packets) {
        const auto datagram = datagram_of(one);
        Opra::Scratch scratch;
        Block block;
        ASSERT_TRUE(datagram && Opra::check(datagram->payload, true, scratch, block).accepted);
        if (block.role == BlockRole::reset || block.role == BlockRole::start_of_day) {
            arrived.emplace(where.at({{datagram->group_ip}, datagram->port}).line,
                            block.ts_exchange_ns);
        }
    }
    EXPECT_EQ(sent.size(), 63U);
    EXPECT_EQ(arrived, sent);
}

}  // namespace
}  // namespace pinstrike::feed::opra::traffic
