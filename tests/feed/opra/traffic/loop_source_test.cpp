// path: cold
#include "feed/opra/traffic/loop_source.h"

#include "feed/opra/lines.h"
#include "feed/opra/opra.h"
#include "nic/packet/datagram.h"
#include "tests/feed/opra/traffic/collected.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

namespace pinstrike::feed::opra::traffic {
namespace {

constexpr std::int64_t begin_ns = 1'773'667'800'000'000'000;

std::vector<LineConfig> four_lines() {
    const std::vector<std::uint16_t> numbers{1, 2, 3, 204};
    return published_lines(numbers);
}

std::vector<nic::Group> groups_of(const std::vector<LineConfig>& lines, std::string_view streams) {
    std::vector<nic::Group> groups;
    for (const LineConfig& line : lines) {
        for (const char stream : streams) {
            groups.push_back(line.streams[stream == 'A' ? 0 : 1]);
        }
    }
    return groups;
}

TrafficConfig small_loop() {
    TrafficConfig config = small_day();
    config.messages_count = 2'000;
    config.series_count = 500;
    config.rate_messages_per_second = unpaced_messages_per_second;
    config.shape = PacketShape::ordinary;
    return config;
}

struct Seen {
    std::uint16_t line;
    std::size_t stream;
    Block block;  ///< its bytes are not kept
};

/// The block of a packet; nullopt if a checksum is wrong.
std::optional<Seen> read(const nic::Packet& packet, const std::vector<LineConfig>& lines) {
    nic::Datagram datagram;
    if (nic::parse_udp(packet, nic::ChecksumCheck::software, datagram) != nic::not_dropped) {
        return std::nullopt;
    }
    Opra::Scratch scratch;
    Block block;
    const OpenResult result = Opra::check(datagram.payload, true, scratch, block);
    if (!result.accepted || result.reasons != 0) {
        return std::nullopt;
    }
    for (const LineConfig& line : lines) {
        for (std::size_t stream = 0; stream < streams_count; ++stream) {
            if (line.streams[stream] == nic::Group{{datagram.group_ip}, datagram.port}) {
                return Seen{line.number, stream, block};
            }
        }
    }
    return std::nullopt;
}

nic::Group lines_group(const std::vector<LineConfig>& lines, const Seen& seen) {
    return std::ranges::find(lines, seen.line, &LineConfig::number)->streams[seen.stream];
}

/// The next number of every line on every stream. The test fails if a block has another number.
class Numbers {
  public:
    void see(const Seen& seen) {
        const std::uint32_t sequence = serial_of(seen.block.sequence);
        auto& next = next_[{seen.line, seen.stream}];
        if (seen.block.role == BlockRole::data) {
            if (next) {
                EXPECT_EQ(sequence, *next) << seen.line;
            }
            wraps_ += next && *next < highest_[seen.line] / 2 ? 1 : 0;
            next = sequence_of(sequence, seen.block.messages);
            highest_[seen.line] = sequence;
        } else if (seen.block.role == BlockRole::line_integrity) {
            EXPECT_EQ(sequence_of(sequence, 1), next.value_or(1));
        } else {
            EXPECT_FALSE(next && seen.block.role == BlockRole::start_of_day);
            next = sequence + 1;
        }
    }

    [[nodiscard]] std::size_t wraps() const { return wraps_; }

    [[nodiscard]] std::size_t lines() const { return next_.size(); }

  private:
    std::map<std::pair<std::uint16_t, std::size_t>, std::optional<std::uint32_t>> next_;
    std::map<std::uint16_t, std::uint32_t> highest_;
    std::size_t wraps_ = 0;
};

void run_loops(LoopSource& source, const std::vector<LineConfig>& lines, int loops,
               Numbers& numbers) {
    std::array<nic::Packet, 64> burst;
    std::int64_t now_ns = begin_ns;
    const std::size_t wanted = 2 * source.loop_blocks() * static_cast<std::size_t>(loops);
    for (std::size_t done = 0; done < wanted;) {
        const std::size_t count = source.fill(burst, now_ns);
        ASSERT_GT(count, 0U);
        for (const nic::Packet& packet : std::span{burst}.first(count)) {
            const auto seen = read(packet, lines);
            ASSERT_TRUE(seen);
            EXPECT_EQ(packet.ts_receive_ns, now_ns);
            EXPECT_LE(seen->block.ts_exchange_ns, now_ns);
            EXPECT_GE(seen->block.ts_exchange_ns, now_ns - 10'000);
            numbers.see(*seen);
        }
        done += count;
        now_ns += 10'000;
    }
}

TEST(LoopSource, NumbersGoOnOverTheLoops) {
    for (const bool session : {false, true}) {
        TrafficConfig config = small_loop();
        config.session = session;
        const auto lines = four_lines();
        LoopSource source{config, lines, groups_of(lines, "AB"), nic::UdpChecksumSent::computed};
        Numbers numbers;
        run_loops(source, lines, 5, numbers);
        EXPECT_EQ(numbers.lines(), 2 * lines.size());
    }
}

TEST(LoopSource, NumbersGoOnPastTheWrap) {
    TrafficConfig config = small_loop();
    config.first_sequence = 0xFFFF'FFFFU - 300;
    config.session = false;
    const auto lines = four_lines();
    LoopSource source{config, lines, groups_of(lines, "AB"), nic::UdpChecksumSent::computed};
    Numbers numbers;
    run_loops(source, lines, 8, numbers);
    EXPECT_GE(numbers.wraps(), lines.size());
}

TEST(LoopSource, BothStreamsCarryTheSameBlocks) {
    const auto lines = four_lines();
    LoopSource source{small_loop(), lines, groups_of(lines, "AB"), nic::UdpChecksumSent::computed};
    std::map<std::uint16_t, std::array<std::vector<std::byte>, 2>> bytes;
    std::array<nic::Packet, 33> burst;
    for (int i = 0; i < 200; ++i) {
        const std::size_t count = source.fill(burst, begin_ns + i);
        for (const nic::Packet& packet : std::span{burst}.first(count)) {
            const auto seen = read(packet, lines);
            ASSERT_TRUE(seen);
            auto& stream = bytes[seen->line][seen->stream];
            stream.insert(stream.end(), seen->block.bytes.begin(), seen->block.bytes.end());
        }
    }
    for (auto& [line, streams] : bytes) {
        const std::size_t both = std::min(streams[0].size(), streams[1].size());
        EXPECT_GT(both, 1'000U);
        streams[0].resize(both);
        streams[1].resize(both);
        EXPECT_EQ(streams[0], streams[1]) << line;
    }
}

TEST(LoopSource, SendsNoUdpChecksumWhereAskedNotTo) {
    const auto lines = four_lines();
    LoopSource source{small_loop(), lines, groups_of(lines, "A"), nic::UdpChecksumSent::none};
    std::array<nic::Packet, 64> burst;
    const std::size_t count = source.fill(burst, begin_ns);
    ASSERT_EQ(count, burst.size());
    for (const nic::Packet& packet : burst) {
        EXPECT_EQ(packet.bytes[40], std::byte{0});
        EXPECT_EQ(packet.bytes[41], std::byte{0});
        const auto seen = read(packet, lines);
        ASSERT_TRUE(seen);
        EXPECT_EQ(seen->stream, 0U);
    }
}

TEST(LoopSource, HandsOutTheGroupsAskedForAlone) {
    TrafficConfig config = small_loop();
    config.rate_messages_per_second = 100'000;
    config.session = false;
    const auto lines = four_lines();
    std::map<std::uint16_t, std::uint64_t> whole, halves;
    const auto gather = [&](std::span<const nic::Group> groups,
                            std::map<std::uint16_t, std::uint64_t>& into) {
        LoopSource source{config, lines, groups, nic::UdpChecksumSent::computed};
        std::array<nic::Packet, 64> burst;
        for (std::int64_t at_ns = 0; at_ns < 100'000'000; at_ns += 10'000) {
            const std::size_t count = source.fill(burst, begin_ns + at_ns);
            for (const nic::Packet& packet : std::span{burst}.first(count)) {
                const auto seen = read(packet, lines);
                ASSERT_TRUE(seen);
                const auto group = lines_group(lines, *seen);
                ASSERT_NE(std::ranges::find(groups, group), groups.end());
                into[seen->line] += seen->block.messages;
            }
        }
    };
    const auto all = groups_of(lines, "AB");
    gather(all, whole);
    gather(std::span{all}.first(4), halves);
    gather(std::span{all}.subspan(4), halves);
    EXPECT_EQ(whole, halves);
    LoopSource none{config, lines, {}, nic::UdpChecksumSent::computed};
    std::array<nic::Packet, 8> burst;
    EXPECT_EQ(none.loop_blocks(), 0U);
    EXPECT_EQ(none.fill(burst, begin_ns), 0U);
}

TEST(LoopSource, KeepsItsRate) {
    TrafficConfig config = small_loop();
    config.rate_messages_per_second = 100'000;
    config.session = false;
    const auto lines = four_lines();
    LoopSource source{config, lines, groups_of(lines, "AB"), nic::UdpChecksumSent::computed};
    std::array<nic::Packet, 64> burst;
    std::array<std::uint64_t, 2> messages{};
    for (std::int64_t at_ns = 0; at_ns < 1'000'000'000; at_ns += 20'000) {
        const std::size_t count = source.fill(burst, begin_ns + at_ns);
        for (const nic::Packet& packet : std::span{burst}.first(count)) {
            const auto seen = read(packet, lines);
            ASSERT_TRUE(seen);
            messages[seen->stream] += seen->block.messages;
        }
    }
    EXPECT_NEAR(static_cast<double>(messages[0]), 100'000, 5'000);
    EXPECT_NEAR(static_cast<double>(messages[1]), 100'000, 5'000);
}

TEST(LoopSource, MakesUpForAPauseOnlyBriefly) {
    TrafficConfig config = small_loop();
    config.rate_messages_per_second = 100'000;
    config.session = false;
    const auto lines = four_lines();
    LoopSource source{config, lines, groups_of(lines, "A"), nic::UdpChecksumSent::computed};
    std::vector<nic::Packet> burst(500);
    static_cast<void>(source.fill(burst, begin_ns));
    const std::int64_t later_ns = begin_ns + 3'000'000'000;
    std::size_t count = 0;
    while (const std::size_t filled = source.fill(burst, later_ns)) {
        count += filled;
    }
    EXPECT_GT(count, 100U);
    EXPECT_LT(count, 1'500U);  // 10 ms are 1,000 messages, some 440 blocks
}

TEST(LoopSource, StampsEachPacketWithWhenItWasDueHoweverLateSomebodyLooks) {
    TrafficConfig config = small_loop();
    config.rate_messages_per_second = 100'000;
    config.session = false;
    const auto lines = four_lines();
    const auto stamps_by = [&](std::int64_t between_looks_ns) {
        LoopSource source{config, lines, groups_of(lines, "A"), nic::UdpChecksumSent::computed};
        std::array<nic::Packet, 64> burst;
        std::vector<std::int64_t> stamps_ns;
        for (std::int64_t at_ns = 0; at_ns <= 100'000'000; at_ns += between_looks_ns) {
            while (const std::size_t count = source.fill(burst, begin_ns + at_ns)) {
                for (const nic::Packet& packet : std::span{burst}.first(count)) {
                    const auto seen = read(packet, lines);
                    EXPECT_TRUE(seen && seen->block.ts_exchange_ns == packet.ts_receive_ns);
                    stamps_ns.push_back(packet.ts_receive_ns);
                }
            }
        }
        return stamps_ns;
    };
    const auto soon = stamps_by(1'000);
    EXPECT_EQ(stamps_by(5'000'000), soon);
    EXPECT_TRUE(std::is_sorted(soon.begin(), soon.end()));
    EXPECT_GT(soon.size(), 3'000U);
}

TEST(LoopSource, OneStreamComesLaterByItsSkew) {
    TrafficConfig config = small_loop();
    config.rate_messages_per_second = 100'000;
    config.session = false;
    config.b.skew_ns = 500'000;
    const auto lines = four_lines();
    LoopSource source{config, lines, groups_of(lines, "AB"), nic::UdpChecksumSent::computed};
    std::array<nic::Packet, 64> burst;
    std::map<std::pair<std::uint16_t, std::uint32_t>, std::int64_t> first_ns;
    std::size_t compared = 0;
    for (std::int64_t at_ns = 0; at_ns < 200'000'000; at_ns += 10'000) {
        const std::size_t count = source.fill(burst, begin_ns + at_ns);
        for (const nic::Packet& packet : std::span{burst}.first(count)) {
            const auto seen = read(packet, lines);
            ASSERT_TRUE(seen);
            if (seen->block.role != BlockRole::data) {
                continue;
            }
            const std::pair key{seen->line, seen->block.sequence};
            const std::int64_t stamp_ns = packet.ts_receive_ns - begin_ns;
            EXPECT_LE(stamp_ns, at_ns) << "nothing comes before it is due";
            if (seen->stream == 0) {
                first_ns[key] = stamp_ns;
                continue;
            }
            EXPECT_NEAR(static_cast<double>(stamp_ns - first_ns.at(key)), 500'000, 20'000);
            EXPECT_EQ(seen->block.ts_exchange_ns, begin_ns + first_ns.at(key));
            ++compared;
        }
    }
    EXPECT_GT(compared, 5'000U);
}

TEST(LoopSource, HasFaultsInTheirShares) {
    TrafficConfig config = small_loop();
    config.session = false;
    config.a.loss = 0.1;
    config.b.corrupt = 0.1;
    config.b.duplicate = 0.05;
    const auto lines = four_lines();
    LoopSource source{config, lines, groups_of(lines, "AB"), nic::UdpChecksumSent::computed};
    std::array<nic::Packet, 64> burst;
    std::array<std::size_t, 2> good{};
    std::size_t damaged = 0;
    for (int i = 0; i < 1'000; ++i) {
        const std::size_t count = source.fill(burst, begin_ns + i);
        for (const nic::Packet& packet : std::span{burst}.first(count)) {
            const auto seen = read(packet, lines);
            seen ? ++good[seen->stream] : ++damaged;
        }
    }
    const auto sent = static_cast<double>(good[0]) / 0.9;
    EXPECT_NEAR(static_cast<double>(damaged), 0.105 * sent, 0.01 * sent);
    EXPECT_NEAR(static_cast<double>(good[1]), 0.945 * sent, 0.02 * sent);
}

}  // namespace
}  // namespace pinstrike::feed::opra::traffic
