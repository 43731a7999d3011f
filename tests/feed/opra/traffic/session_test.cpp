// path: cold
#include "feed/opra/lines.h"
#include "feed/opra/opra.h"
#include "tests/feed/opra/traffic/collected.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

namespace pinstrike::feed::opra::traffic {
namespace {

std::vector<LineConfig> lines(const std::vector<std::uint16_t>& numbers) {
    return published_lines(numbers);
}

std::vector<LineConfig> mixed_lines() {
    return lines({1, 2, 3, 4, 96, 201, 202, 203, 204, 220});
}

bool same_bytes(const std::vector<KeptBlock>& a, const std::vector<KeptBlock>& b) {
    return std::ranges::equal(a, b, {}, &KeptBlock::bytes, &KeptBlock::bytes);
}

struct Shares {
    std::size_t blocks = 0, messages = 0, bytes = 0, quotes = 0, longs = 0, appended = 0;
};

/// The shares of the data blocks.
Shares shares_of(const std::vector<KeptBlock>& blocks) {
    Shares shares;
    for (const KeptBlock& block : blocks) {
        if (block.role != BlockRole::data) {
            continue;
        }
        ++shares.blocks;
        shares.bytes += block.bytes.size();
        shares.messages += block.messages.size();
        for (const wire::Message& message : block.messages) {
            const char category = message.category();
            const bool quote = category == 'k' || category == 'q';
            shares.quotes += quote ? 1 : 0;
            shares.longs += category == 'k' ? 1 : 0;
            const bool appended =
                appendages_bytes[static_cast<std::uint8_t>(message.header.indicator)] != 0;
            shares.appended += quote && appended ? 1 : 0;
        }
    }
    return shares;
}

double ratio(std::size_t part, std::size_t whole) {
    return static_cast<double>(part) / static_cast<double>(whole);
}

TEST(Session, TheSameSeedMakesTheSameBytes) {
    TrafficConfig config = small_day();
    config.messages_count = 10'000;
    const auto first = blocks_of(config, mixed_lines());
    EXPECT_TRUE(same_bytes(first, blocks_of(config, mixed_lines())));
    config.seed = 2;
    EXPECT_FALSE(same_bytes(first, blocks_of(config, mixed_lines())));
}

TEST(Session, EveryBlockIsSoundAndTheNumbersGoOn) {
    TrafficConfig config = small_day();
    config.test_symbols = 0.01;
    std::map<std::uint16_t, std::uint32_t> next;
    std::int64_t latest_ns = 0;
    for (const KeptBlock& kept : blocks_of(config, mixed_lines())) {
        Opra::Scratch scratch;
        Block block;
        const OpenResult result = Opra::check(kept.bytes, true, scratch, block);
        ASSERT_TRUE(result.accepted);
        ASSERT_EQ(result.reasons, 0U);
        ASSERT_EQ(block.role, kept.role);
        ASSERT_EQ(block.decodable, kept.messages.size());
        EXPECT_EQ(block.ts_exchange_ns, kept.ts_ns);
        EXPECT_GT(kept.ts_ns, latest_ns);
        latest_ns = kept.ts_ns;
        if (block.role == BlockRole::data) {
            const auto [at, first] = next.try_emplace(kept.line, 1);
            EXPECT_EQ(block.sequence, at->second) << "line " << kept.line;
            at->second += block.messages;
        }
    }
    EXPECT_EQ(next.size(), mixed_lines().size());
}

TEST(Session, EveryCategoryAndTypeOccurs) {
    TrafficConfig config = small_day();
    config.messages_count = 250'000;
    config.restarts_count = 1;
    config.disaster = true;
    std::set<std::string> seen;
    std::string indicators;
    for (const KeptBlock& block : blocks_of(config, mixed_lines())) {
        for (const wire::Message& message : block.messages) {
            seen.insert({message.category(), message.header.type});
            if (indicators.find(message.header.indicator) == std::string::npos) {
                indicators += message.header.indicator;
            }
        }
    }
    for (const char type : std::string{"ABCDEFGHIJSabcdefghijklmnopqrstuv"}) {
        EXPECT_TRUE(seen.contains({'a', type})) << "a" << type;
    }
    for (const char type : std::string{" ABOCFIRTXY"}) {
        EXPECT_TRUE(seen.contains({'k', type}) && seen.contains({'q', type})) << "k, q " << type;
    }
    for (const char type : std::string{"CEFJKLMP"}) {
        EXPECT_TRUE(seen.contains({'H', type})) << "H" << type;
    }
    for (const std::string pair : {"d ", "f ", "C ", "RA", "Y ", "YI"}) {
        EXPECT_TRUE(seen.contains(pair)) << pair;
    }
    for (char letter = 'A'; letter <= 'P'; ++letter) {
        EXPECT_NE(indicators.find(letter), std::string::npos) << letter;
    }
}

TEST(Session, ControlsAndTextsStandAloneInTheirBlocks) {
    for (const KeptBlock& block : blocks_of(small_day(), mixed_lines())) {
        const bool alone = std::ranges::any_of(block.messages, [](const wire::Message& message) {
            return message.category() == 'H' || message.category() == 'C';
        });
        EXPECT_TRUE(!alone || block.messages.size() == 1);
    }
}

TEST(Session, GthBlocksNameTheirSession) {
    for (const KeptBlock& block : blocks_of(small_day(), mixed_lines())) {
        for (const wire::Message& message : block.messages) {
            const bool opra = message.header.participant == 'O';
            const std::uint8_t expected = !is_gth_line(block.line) ? 0 : opra ? 'X' : 1;
            ASSERT_EQ(block.header.session, expected);  // 1 is Monday, as 2026-03-16 is
            ASSERT_FALSE(is_gth_line(block.line) && message.category() == 'R');
        }
    }
}

TEST(Session, NoLineIsSilentForTenSeconds) {
    TrafficConfig config = small_day();
    config.messages_count = 600;
    config.rate_messages_per_second = 10;
    std::map<std::uint16_t, std::int64_t> sent_ns;
    std::size_t heartbeats = 0;
    std::map<std::uint16_t, std::uint32_t> last;
    for (const KeptBlock& block : blocks_of(config, mixed_lines())) {
        if (block.line == 220) {
            continue;  // line 220 carries no controls
        }
        const auto [at, first] = sent_ns.try_emplace(block.line, block.ts_ns);
        EXPECT_LE(block.ts_ns - at->second, 10'000'000'000);
        at->second = block.ts_ns;
        if (block.role == BlockRole::line_integrity) {
            ++heartbeats;
            EXPECT_EQ(block.header.sequence, last[block.line]);
        } else if (block.role == BlockRole::data) {
            last[block.line] = sequence_of(block.header.sequence,
                                           static_cast<unsigned>(block.messages.size() - 1));
        }
    }
    EXPECT_GT(heartbeats, 0U);
}

TEST(Session, FullBlocksOfPlainQuotes) {
    TrafficConfig config = small_day();
    config.shape = PacketShape::full;
    config.mix = 0;
    config.session = false;
    config.messages_count = 100'000;
    const auto blocks = blocks_of(config, lines({1, 2, 3, 4}));
    const Shares shares = shares_of(blocks);
    EXPECT_EQ(shares.longs, 0U);
    EXPECT_EQ(shares.appended, 0U);
    EXPECT_EQ(shares.quotes, shares.messages);
    EXPECT_NEAR(ratio(shares.messages, shares.blocks), 33, 0.2);
    EXPECT_NEAR(ratio(shares.bytes, shares.blocks), 978, 5);
}

TEST(Session, FullBlocksOfTheMix) {
    TrafficConfig config = small_day();
    config.shape = PacketShape::full;
    config.session = false;
    config.roots_count = 4'000;
    config.series_count = 100'000;
    config.messages_count = 200'000;
    const Shares shares = shares_of(blocks_of(config, lines({1, 2, 3, 4})));
    EXPECT_NEAR(ratio(shares.messages, shares.blocks), 28.3, 0.6);
    EXPECT_NEAR(ratio(shares.longs, shares.quotes), 0.25, 0.01);
    EXPECT_NEAR(ratio(shares.appended, shares.quotes), 0.12, 0.01);
}

TEST(Session, OrdinaryBlocks) {
    TrafficConfig config = small_day();
    config.shape = PacketShape::ordinary;
    config.mix = 0;
    config.session = false;
    config.messages_count = 100'000;
    const Shares plain = shares_of(blocks_of(config, lines({1, 2, 3, 4})));
    EXPECT_NEAR(ratio(plain.messages, plain.blocks), 2.26, 0.05);
    EXPECT_NEAR(ratio(plain.bytes, plain.blocks), 86.8, 1.5);
    config.mix = 1;
    config.roots_count = 4'000;
    config.series_count = 100'000;
    const Shares mixed = shares_of(blocks_of(config, lines({1, 2, 3, 4})));
    EXPECT_NEAR(ratio(mixed.bytes, mixed.blocks), 98, 2.5);
}

TEST(Session, BlocksOfAGivenNumberOfMessages) {
    TrafficConfig config = small_day();
    config.messages_per_packet = 4;
    config.session = false;
    config.messages_count = 10'000;
    const Shares given = shares_of(blocks_of(config, lines({1, 2, 3, 4})));
    EXPECT_NEAR(ratio(given.messages, given.blocks), 4, 0.05);  // the last blocks have fewer
    config.messages_per_packet = 255;                           // more than fit
    const Shares full = shares_of(blocks_of(config, lines({1, 2, 3, 4})));
    EXPECT_LE(ratio(full.bytes, full.blocks), 1000);
    EXPECT_GT(ratio(full.bytes, full.blocks), 900);
}

TEST(Session, BlendHasBurstsAmidOrdinaryTraffic) {
    TrafficConfig config = small_day();
    config.session = false;
    config.messages_count = 200'000;
    std::size_t crowded = 0, small = 0;
    const auto blocks = blocks_of(config, lines({1, 2}));
    for (const KeptBlock& block : blocks) {
        crowded += block.messages.size() >= 20 ? 1 : 0;
        small += block.messages.size() <= 5 ? 1 : 0;
    }
    EXPECT_GT(ratio(crowded, blocks.size()), 0.02);
    EXPECT_GT(ratio(small, blocks.size()), 0.5);
}

TEST(Session, TheRateIsKept) {
    TrafficConfig config = small_day();
    config.session = false;
    config.shape = PacketShape::ordinary;
    config.rate_messages_per_second = 50'000;
    config.messages_count = 100'000;
    const auto blocks = blocks_of(config, lines({1, 2}));
    const double seconds = static_cast<double>(blocks.back().ts_ns - blocks.front().ts_ns) / 1e9;
    EXPECT_NEAR(seconds, 2.0, 0.05);
}

TEST(Session, TestSymbolsInTheirShare) {
    TrafficConfig config = small_day();
    config.test_symbols = 0.1;
    config.session = false;
    std::size_t tests = 0, quotes = 0;
    for (const KeptBlock& block : blocks_of(config, lines({1, 2}))) {
        for (const wire::Message& message : block.messages) {
            std::string symbol;
            if (const auto* quote = std::get_if<wire::ShortQuote>(&message.body)) {
                symbol.assign(quote->symbol.begin(), quote->symbol.end());
            } else if (const auto* more = std::get_if<wire::LongQuote>(&message.body)) {
                symbol.assign(more->series.symbol.begin(), more->series.symbol.end());
            } else {
                continue;
            }
            ++quotes;
            tests += is_test_symbol(symbol_word_of(symbol)) ? 1 : 0;
        }
    }
    EXPECT_NEAR(ratio(tests, quotes), 0.1, 0.01);
    config.test_symbols = 0;
}

TEST(Session, ACaptureThatMayBeLoopedEndsWithResetsOnEveryLine) {
    TrafficConfig config = small_day();
    config.session = false;
    config.end_with_reset = true;
    config.messages_count = 1'000;
    const auto all = lines({1, 2, 3, 220});
    const auto blocks = blocks_of(config, all);
    ASSERT_GT(blocks.size(), all.size());
    std::set<std::uint16_t> ended;
    for (const KeptBlock& block : std::span{blocks}.last(all.size())) {
        EXPECT_EQ(block.role, BlockRole::reset);
        EXPECT_EQ(block.header.sequence, 0U);
        ended.insert(block.line);
    }
    EXPECT_EQ(ended.size(), all.size());
}

TEST(Session, TheWrapIsStraddledOrAnnounced) {
    TrafficConfig config = small_day();
    config.first_sequence = 0xFFFF'FFFFU - 500;
    config.messages_count = 5'000;
    config.shape = PacketShape::full;
    bool straddled = false;
    for (const KeptBlock& block : blocks_of(config, lines({1}))) {
        const auto last = static_cast<unsigned>(block.messages.size() - 1);
        straddled = straddled || (block.role == BlockRole::data &&
                                  sequence_of(block.header.sequence, last) < block.header.sequence);
    }
    EXPECT_TRUE(straddled);
    config.rollover_reset = true;
    std::vector<std::uint32_t> resets;
    for (const KeptBlock& block : blocks_of(config, lines({1}))) {
        const auto last = static_cast<unsigned>(block.messages.size() - 1);
        EXPECT_GE(sequence_of(block.header.sequence, last), block.header.sequence);
        if (block.role == BlockRole::reset) {
            resets.push_back(block.header.sequence);
        }
    }
    EXPECT_EQ(resets, (std::vector<std::uint32_t>{config.first_sequence - 1, 1}));
}

TEST(Session, ASeriesStaysOnItsLineAndIsMappedThere) {
    TrafficConfig config = small_day();
    using Key = std::tuple<std::array<char, 5>, char, int, int, std::int32_t>;
    std::map<Key, std::set<std::uint16_t>> spoken, mapped;
    std::set<std::array<char, 5>> roots_on_two_lines;
    std::size_t on_220 = 0;
    for (const KeptBlock& block : blocks_of(config, lines({1, 2, 3, 4, 220}))) {
        for (const wire::Message& message : block.messages) {
            if (const auto* map = std::get_if<wire::SeriesMap>(&message.body)) {
                const wire::Series& series = map->series;
                mapped[{series.symbol, series.expiration.letter, series.expiration.day,
                        series.expiration.year, series.strike}]
                    .insert(map->mapped_line);
                on_220 += block.line == 220 ? 1 : 0;
                EXPECT_TRUE(block.line == 220 || block.line == map->mapped_line);
            } else if (const auto* quote = std::get_if<wire::ShortQuote>(&message.body)) {
                std::array<char, 5> symbol{' ', ' ', ' ', ' ', ' '};
                std::copy(quote->symbol.begin(), quote->symbol.end(), symbol.begin());
                spoken[{symbol, quote->expiration.letter, quote->expiration.day,
                        quote->expiration.year, quote->strike}]
                    .insert(block.line);
            }
        }
    }
    for (const auto& [key, on] : spoken) {
        EXPECT_EQ(on.size(), 1U);
        if (const auto found = mapped.find(key); found != mapped.end()) {
            EXPECT_EQ(found->second, on);
        }
    }
    EXPECT_GT(spoken.size(), 1'000U);
    EXPECT_GE(on_220, 400U);
}

}  // namespace
}  // namespace pinstrike::feed::opra::traffic
