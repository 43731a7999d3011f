// path: cold
//
// Tests properties of check, parse, encode and decode on random and on changed blocks.
#include "feed/opra/encode.h"
#include "feed/opra/parse.h"
#include "tests/feed/opra/decoded.h"
#include "tests/feed/opra/samples.h"

#include <gtest/gtest.h>

#include <bit>

namespace pinstrike::feed::opra {
namespace {

using Bytes = std::vector<std::byte>;

/// Short and long quotes in turn, with every indicator.
std::vector<wire::Message> quotes_of_every_form() {
    std::vector<wire::Message> quotes;
    for (const char indicator : std::string_view{" ABCDEFGHIJKLMNOP"}) {
        wire::Message brief = samples::quote_with(indicator);
        const auto& quote = std::get<wire::ShortQuote>(brief.body);
        wire::Message full = brief;
        full.body = wire::LongQuote{.series = {wire::padded("AMZN"), {'L', 29, 23}, 'B', 1330},
                                    .price_code = 'C',
                                    .bid = -5,
                                    .bid_size = 7,
                                    .offer = 1'000'000'007,
                                    .offer_size = 0xFFFF'FFFE,
                                    .best_bid = quote.best_bid,
                                    .best_offer = quote.best_offer};
        quotes.push_back(std::move(brief));
        quotes.push_back(std::move(full));
    }
    return quotes;
}

/// Blocks with one message of each layout, and blocks that mix the layouts.
std::vector<Bytes> sample_blocks() {
    std::vector<Bytes> blocks;
    const auto messages = samples::one_of_each();
    for (const wire::Message& message : messages) {
        blocks.push_back(samples::block({message}));
    }
    blocks.push_back(samples::block(messages));
    blocks.push_back(samples::block(samples::short_quotes(33)));
    const auto quotes = quotes_of_every_form();
    const auto middle = quotes.begin() + static_cast<std::ptrdiff_t>(quotes.size() / 2);
    blocks.push_back(samples::block({quotes.begin(), middle}));
    blocks.push_back(samples::block({middle, quotes.end()}));
    return blocks;
}

TEST(Property, EncodingWhatWasDecodedGivesTheSameBytes) {
    for (std::uint64_t seed = 1; seed <= 5000; ++seed) {
        samples::Random random{seed};
        const Bytes bytes = samples::random_block(random, 1 + static_cast<unsigned>(seed % 40));
        const Parsed parsed = parse_block(bytes, true);
        ASSERT_TRUE(parsed.result.accepted) << "seed " << seed;
        ASSERT_EQ(parsed.result.reasons & ~remarks, 0U) << "seed " << seed;
        ASSERT_EQ(parsed.block->messages.size(), parsed.block->messages_count);
        ASSERT_EQ(encode(*parsed.block), bytes) << "seed " << seed;
        ASSERT_EQ(disagreement(bytes, true), "") << "seed " << seed;
    }
}

TEST(Property, DecodingWhatWasEncodedGivesTheSameMessages) {
    for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
        samples::Random random{seed};
        std::vector<wire::Message> messages;
        for (unsigned i = 0; i < 3; ++i) {
            messages.push_back(samples::random_message(random));
        }
        const Parsed parsed = parse_block(samples::block(messages), true);
        ASSERT_TRUE(parsed.result.accepted);
        messages.resize(parsed.block->messages_count);  // those that fitted into the block
        ASSERT_EQ(parsed.block->messages, messages) << "seed " << seed;
    }
}

TEST(Property, EveryPrefixEndsInACountedRefusal) {
    for (const Bytes& whole : sample_blocks()) {
        for (std::size_t length = 0; length < whole.size(); ++length) {
            const std::span<const std::byte> prefix = std::span{whole}.first(length);
            ASSERT_FALSE(parse_block(prefix, true).result.accepted);
            ASSERT_EQ(disagreement(prefix, true), "") << length;
        }
    }
}

/// The block is cut short, and its header says so. Its complete messages are decoded, and the rest
/// is counted.
TEST(Property, EveryCutBlockGivesItsWholeMessagesAndACountedError) {
    for (const Bytes& whole : sample_blocks()) {
        const auto all = parse_block(whole, true).block->messages;
        for (std::size_t length = block::header_bytes; length + 1 < whole.size(); ++length) {
            Bytes cut{whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)};
            put<block::size>(cut.data(), static_cast<std::uint16_t>(length));
            fix_checksum(cut);
            const Parsed parsed = parse_block(cut, true);
            ASSERT_TRUE(parsed.result.accepted);
            ASSERT_EQ(disagreement(cut, true), "") << length;
            const auto& messages = parsed.block->messages;
            ASSERT_LE(messages.size(), all.size());
            if (messages.size() < all.size()) {
                ASSERT_EQ(parsed.result.reasons & ~remarks,
                          reason_bit(BlockReject::message_truncated));
            }
            for (std::size_t i = 0; i < messages.size(); ++i) {
                ASSERT_EQ(messages[i], all[i]);
            }
        }
    }
}

TEST(Property, EveryDamagedByteIsRefusedByTheChecksumOrBefore) {
    for (const Bytes& whole : sample_blocks()) {
        Bytes damaged = whole;
        for (std::size_t at = 0; at < whole.size(); ++at) {
            for (unsigned delta = 1; delta < 256; ++delta) {
                damaged[at] = static_cast<std::byte>(std::to_integer<unsigned>(whole[at]) + delta);
                const OpenResult result = parse_block(damaged, true).result;
                ASSERT_FALSE(result.accepted) << at << " by " << delta;
                ASSERT_EQ(std::popcount(result.reasons), 1);
            }
            damaged[at] = whole[at];
        }
    }
}

TEST(Property, EveryDamagedByteBehindAGoodChecksumEndsInMessagesOrACountedError) {
    for (const Bytes& whole : sample_blocks()) {
        Bytes damaged = whole;
        for (std::size_t at = 0; at < whole.size(); ++at) {
            for (unsigned delta = 1; delta < 256; ++delta) {
                damaged[at] = static_cast<std::byte>(std::to_integer<unsigned>(whole[at]) + delta);
                const std::size_t size = get<block::size>(damaged.data());
                if (size >= block::header_bytes && size <= damaged.size()) {
                    fix_checksum(std::span{damaged}.first(size));
                }
                ASSERT_EQ(disagreement(damaged, true), "") << at << " by " << delta;
            }
            damaged = whole;
        }
    }
}

TEST(Property, RandomBytesBehindAGoodHeaderNeverDisagree) {
    for (std::uint64_t seed = 1; seed <= 20000; ++seed) {
        samples::Random random{seed};
        Bytes bytes(block::header_bytes + seed % 200);
        for (std::byte& byte : bytes) {
            byte = static_cast<std::byte>(random());
        }
        constexpr std::string_view categories = "adfkqCHRY";
        put<block::version>(bytes.data(), std::uint8_t{6});
        put<block::feed>(bytes.data(), 'O');
        put<block::size>(bytes.data(), static_cast<std::uint16_t>(bytes.size()));
        if (bytes.size() > block::header_bytes + 3) {
            bytes[block::header_bytes + 1] =
                static_cast<std::byte>(categories[seed % categories.size()]);
            bytes[block::header_bytes + 3] = static_cast<std::byte>('A' + seed % 16);
        }
        fix_checksum(bytes);
        ASSERT_EQ(disagreement(bytes, true), "") << "seed " << seed;
    }
}

TEST(Decode, LeavesTestsOutAndCountsThem) {
    std::vector<wire::Message> messages = samples::one_of_each();
    unsigned with_symbol = 0;
    for (wire::Message& message : messages) {
        std::visit(
            [&](auto& body) {
                using Body = std::remove_reference_t<decltype(body)>;
                if constexpr (requires { body.series; }) {
                    body.series.symbol = wire::padded("ZVZZT");
                    ++with_symbol;
                } else if constexpr (std::is_same_v<Body, wire::ShortQuote>) {
                    body.symbol = wire::padded<4>("12V");
                    ++with_symbol;
                } else if constexpr (std::is_same_v<Body, wire::Underlying>) {
                    body.symbol = wire::padded("CBO");
                    ++with_symbol;
                }
            },
            message.body);
    }
    const Bytes bytes = samples::block(messages);
    ASSERT_EQ(parse_block(bytes, true).block->messages.size(), messages.size());
    const Collector all = decode_all(bytes, false, true);
    EXPECT_EQ(all.messages.size(), messages.size());
    EXPECT_EQ(all.filtered_count, 0U);
    const Collector kept = decode_all(bytes, false, false);
    EXPECT_EQ(kept.filtered_count, with_symbol);
    EXPECT_EQ(kept.messages.size() + with_symbol, messages.size());
}

TEST(Decode, StrikesOfTwoDenominatorsAreOneKeyAndGthIsAnother) {
    wire::LongQuote tenths;
    tenths.series = {wire::padded("AMZN"), {'L', 29, 23}, 'A', 1330};
    wire::LongQuote cents = tenths;
    cents.series.strike_code = 'B';
    cents.series.strike = 13300;
    const wire::ShortQuote brief{.symbol = wire::padded<4>("AMZN"),
                                 .expiration = {'L', 29, 23},
                                 .strike = 1330,
                                 .best_bid = {},
                                 .best_offer = {}};
    const Bytes bytes = samples::block({{{}, tenths}, {{}, cents}, {{}, brief}});
    const auto keys_of = [&bytes](bool on_gth_line) {
        std::vector<SeriesKey> keys;
        for (const auto& message : decode_all(bytes, on_gth_line).messages) {
            keys.push_back(message.front().body.series);
        }
        return keys;
    };
    const auto regular = keys_of(false);
    const auto gth = keys_of(true);
    ASSERT_EQ(regular.size(), 3U);
    EXPECT_EQ(regular[0], regular[1]);
    EXPECT_EQ(regular[0], regular[2]);
    EXPECT_EQ(gth[0], gth[2]);
    EXPECT_NE(regular[0], gth[0]);
    EXPECT_TRUE(gth[0].gth());
    EXPECT_EQ(gth[0].expiration_letter(), 'L');
    EXPECT_EQ(regular[0].strike_e8, 13'300'000'000);
    EXPECT_EQ(regular[0].day(), 29U);
    EXPECT_EQ(regular[0].year(), 2023U);
}

/// Blocks of short quotes without appendages are checked and decoded by separate code.
TEST(Decode, EveryByteOfAPlainQuoteIsTakenAsTheParserTakesIt) {
    for (const unsigned count : {1U, 2U, 33U}) {
        const Bytes bytes = samples::block(samples::short_quotes(count));
        for (std::size_t at = block::header_bytes; at < bytes.size(); ++at) {
            const bool at_ends = at < block::header_bytes + 2 * short_quote::bytes ||
                                 at + 2 * short_quote::bytes > bytes.size();
            for (unsigned value = 0; value < 256; value += at_ends ? 1 : 15) {
                Bytes changed = bytes;
                changed[at] = static_cast<std::byte>(value);
                ASSERT_EQ(disagreement(changed, false), "") << "byte " << at << ": " << value;
            }
        }
    }
}

/// Opens a block and decodes it with decode_fast(). False if that refuses the block.
bool decodes_fast(const Bytes& bytes, Collector& collector) {
    Block block;
    return Opra::open_repair(bytes, true, block).accepted &&
           Opra::decode_fast(block, Header{}, false, collector);
}

TEST(FastPath, DecodesOtherMessagesAtAnyPlaceBetweenQuotes) {
    const std::vector<wire::Message> each = samples::one_of_each();
    for (const wire::Message& other : each) {
        const bool decodable = other.category() != 'H' && other.category() != 'C';
        for (const unsigned before : {0U, 1U, 8U}) {
            for (const unsigned behind : {0U, 1U, 8U}) {
                std::vector<wire::Message> messages = samples::short_quotes(before + behind);
                messages.insert(messages.begin() + before, other);
                Collector collector;
                EXPECT_EQ(decodes_fast(samples::block(messages), collector), decodable)
                    << other.category() << " behind " << before << ", before " << behind;
                EXPECT_EQ(collector.messages.size(), decodable ? messages.size() : 0U);
            }
        }
    }
}

TEST(FastPath, LeavesTestsOutAndCountsThem) {
    wire::LastSale trade;
    trade.series = {wire::padded("ZVZZT"), {'L', 29, 23}, 'B', 13300};
    for (const unsigned quotes : {2U, 12U}) {
        std::vector<wire::Message> messages = samples::short_quotes(quotes);
        std::get<wire::ShortQuote>(messages.front().body).symbol = wire::padded<4>("ZZK");
        Collector plain{false};
        ASSERT_TRUE(decodes_fast(samples::block(messages), plain));
        EXPECT_EQ(plain.filtered_count, 1U);
        EXPECT_EQ(plain.messages.size(), quotes - 1);
        messages.push_back({{}, trade});
        Collector mixed{false};
        ASSERT_TRUE(decodes_fast(samples::block(messages), mixed));
        EXPECT_EQ(mixed.filtered_count, 2U);
        EXPECT_EQ(mixed.messages.size(), quotes - 1);
        EXPECT_EQ(mixed.messages.back().front().header.sequence, 1000 + quotes - 1);
        Collector all;
        ASSERT_TRUE(decodes_fast(samples::block(messages), all));
        EXPECT_EQ(all.messages.size(), quotes + 1);
    }
}

TEST(FastPath, RefusesABlockWithoutSlotsOrWithNumbersPastTheWrap) {
    const std::vector<wire::Message> messages = samples::short_quotes(3);
    Collector full;
    full.full = true;
    EXPECT_FALSE(decodes_fast(samples::block(messages), full));
    wire::BlockHeader header{.retransmission = ' ',
                             .session = 0,
                             .sequence = 4294967293U,
                             .seconds = 1,
                             .nanoseconds = 2};
    Collector collector;
    EXPECT_TRUE(decodes_fast(samples::block(messages, header), collector));
    EXPECT_EQ(collector.messages.back().front().header.sequence, 4294967295U);
    header.sequence += 1;
    Collector wrapped;
    EXPECT_FALSE(decodes_fast(samples::block(messages, header), wrapped));
    EXPECT_TRUE(wrapped.messages.empty());
}

TEST(Decode, TakesAPartOfABlockAndCountsOnPastTheWrap) {
    const Bytes bytes = samples::block(samples::short_quotes(4), {.retransmission = ' ',
                                                                  .session = 3,
                                                                  .sequence = 4294967294U,
                                                                  .seconds = 1,
                                                                  .nanoseconds = 2});
    Opra::Scratch scratch;
    Block block;
    ASSERT_TRUE(Opra::check(bytes, true, scratch, block).accepted);
    EXPECT_EQ(block.ts_exchange_ns, 1'000'000'002);
    EXPECT_EQ(block.session, 3);
    Collector collector;
    Opra::decode(block, 1, 2, Header{}, false, collector);
    ASSERT_EQ(collector.messages.size(), 2U);
    EXPECT_EQ(collector.messages[0].front().header.sequence, 4294967295U);
    EXPECT_EQ(collector.messages[1].front().header.sequence, 1U);
}

TEST(Decode, GoesOnWhereARingRefuses) {
    Opra::Scratch scratch;
    Block block;
    const Bytes bytes = samples::block(samples::one_of_each());
    ASSERT_TRUE(Opra::check(bytes, true, scratch, block).accepted);

    Collector full;
    full.full = true;
    Opra::decode(block, 0, block.decodable, Header{}, false, full);
    EXPECT_EQ(full.messages.size(), 2U);  // the controls, which go to all cores
}

}  // namespace
}  // namespace pinstrike::feed::opra
