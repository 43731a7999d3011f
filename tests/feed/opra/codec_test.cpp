// path: cold
//
// Pins the layout, and tests the results of check() and parse_block() for single blocks, rule by
// rule.
#include "feed/opra/encode.h"
#include "feed/opra/lines.h"
#include "feed/opra/parse.h"
#include "tests/feed/opra/samples.h"

#include <gtest/gtest.h>

namespace pinstrike::feed::opra {
namespace {

using Bytes = std::vector<std::byte>;

/// Offsets and lengths as the specification prints them, independent of the assertions in layout.h.
TEST(Layout, FieldsStandWhereTheSpecificationSays) {
    struct Pin {
        Field field;
        std::size_t at, bytes;
    };

    const Pin pins[] = {
        // OPRA Block Header
        {block::size, 1, 2},
        {block::feed, 3, 1},
        {block::retransmission, 4, 1},
        {block::session, 5, 1},
        {block::sequence, 6, 4},
        {block::messages, 10, 1},
        {block::seconds, 11, 4},
        {block::nanoseconds, 15, 4},
        {block::checksum, 19, 2},
        // OPRA Message Header
        {message::category, 1, 1},
        {message::type, 2, 1},
        {message::indicator, 3, 1},
        {message::transaction_id, 4, 4},
        {message::reference, 8, 4},
        // the sections on the messages of each category
        {last_sale::expiration, 18, 3},
        {last_sale::volume, 26, 4},
        {last_sale::price_code, 30, 1},
        {last_sale::price, 31, 4},
        {last_sale::trade_id, 35, 4},
        {open_interest::open_interest, 26, 4},
        {end_of_day::price_code, 34, 1},
        {end_of_day::net_change, 51, 4},
        {end_of_day::underlying_code, 55, 1},
        {end_of_day::underlying, 56, 8},
        {end_of_day::offer, 68, 4},
        {long_quote::price_code, 26, 1},
        {long_quote::bid, 27, 4},
        {long_quote::offer_size, 39, 4},
        {short_quote::expiration, 16, 3},
        {short_quote::strike, 19, 2},
        {short_quote::offer_size, 27, 2},
        {appendage::price, 2, 4},
        {appendage::size, 6, 4},
        {text::length, 12, 2},
        {series_map::strike_code, 20, 1},
        {series_map::strike, 21, 4},
        {series_map::mapped_line, 25, 2},
        {underlying::code, 18, 1},
        {underlying::value, 19, 4},
        {underlying::offer, 23, 4},
    };
    for (const Pin& pin : pins) {
        EXPECT_EQ(pin.field.at, pin.at);
        EXPECT_EQ(pin.field.bytes, pin.bytes) << "at " << pin.at;
    }
    EXPECT_EQ(block::header_bytes, 21U);
    EXPECT_EQ(last_sale::bytes, 43U);
    EXPECT_EQ(open_interest::bytes, 30U);
    EXPECT_EQ(end_of_day::bytes, 72U);
    EXPECT_EQ(long_quote::bytes, 43U);
    EXPECT_EQ(short_quote::bytes, 29U);
    EXPECT_EQ(series_map::bytes, 155U);
    EXPECT_EQ(underlying::bytes, 27U);
}

TEST(Layout, IndicatorsAnnounceAppendages) {
    const std::pair<char, unsigned> announced[] = {
        {' ', 0}, {'A', 0},  {'B', 0},  {'C', 10}, {'D', 0}, {'E', 0},
        {'F', 0}, {'G', 10}, {'H', 0},  {'I', 0},  {'J', 0}, {'K', 10},
        {'L', 0}, {'M', 10}, {'N', 10}, {'O', 20}, {'P', 10}};
    for (const auto& [indicator, bytes] : announced) {
        EXPECT_EQ(appendages_bytes[static_cast<unsigned char>(indicator)], bytes) << indicator;
    }
    for (const char indicator : {'Q', 'a', '\0', '@', '\xC1'}) {
        EXPECT_EQ(appendages_bytes[static_cast<unsigned char>(indicator)], appendages_unknown);
    }
}

TEST(Layout, NumbersGoOnPastTheLargestToOne) {
    EXPECT_EQ(sequence_of(4294967295U, 0), 4294967295U);
    EXPECT_EQ(sequence_of(4294967295U, 1), 1U);
    EXPECT_EQ(sequence_of(4294967295U, 2), 2U);
    EXPECT_EQ(sequence_of(0, 0), 0U);
}

/// A block of `messages` whose bytes a test may change. sum() corrects the checksum.
struct Sample {
    Bytes bytes;

    explicit Sample(const std::vector<wire::Message>& messages) : bytes(samples::block(messages)) {}

    Sample& set(std::size_t at, std::uint8_t value) {
        bytes[at] = std::byte{value};
        return *this;
    }

    Sample& sum() {
        fix_checksum(std::span{bytes}.first(get<block::size>(bytes.data())));
        return *this;
    }

    [[nodiscard]] Parsed parse() const { return parse_block(bytes, true); }
};

bool has(const Parsed& parsed, BlockReject reason) {
    return (parsed.result.reasons & reason_bit(reason)) != 0;
}

TEST(Check, RefusesWholeBlocks) {
    const auto quotes = samples::short_quotes(3);
    const auto only = [](const Parsed& parsed, BlockReject reason) {
        return !parsed.result.accepted && parsed.result.reasons == reason_bit(reason);
    };
    Sample shortened{quotes};
    shortened.bytes.resize(20);
    EXPECT_TRUE(only(shortened.parse(), BlockReject::payload_short));
    EXPECT_TRUE(only(Sample{quotes}.set(0, 5).sum().parse(), BlockReject::version_unknown));
    EXPECT_TRUE(only(Sample{quotes}.set(3, 'P').sum().parse(), BlockReject::feed_unknown));
    EXPECT_TRUE(only(Sample{quotes}.set(1, 0).set(2, 20).parse(), BlockReject::size_bad));
    EXPECT_TRUE(only(Sample{quotes}.set(1, 3).set(2, 0xE9).parse(), BlockReject::size_bad));
    EXPECT_TRUE(only(Sample{quotes}.set(2, 110).parse(), BlockReject::size_bad));
    EXPECT_TRUE(only(Sample{quotes}.set(30, 0x55).parse(), BlockReject::checksum_bad));
    EXPECT_TRUE(only(Sample{quotes}.set(10, 0).sum().parse(), BlockReject::no_messages));
    EXPECT_TRUE(parse_block(Sample{quotes}.set(30, 0x55).bytes, false).result.accepted);
}

TEST(Check, LetsOdditiesPass) {
    // 21 bytes of header, 58 of messages, and the pad.
    const auto quotes = samples::short_quotes(2);
    Sample pad{quotes};
    pad.set(pad.bytes.size() - 1, 0x77).sum();
    EXPECT_TRUE(pad.parse().result.accepted);
    EXPECT_EQ(pad.parse().result.reasons, 0U);

    Sample odd{quotes};
    odd.bytes.pop_back();
    odd.set(2, static_cast<std::uint8_t>(odd.bytes.size())).sum();
    EXPECT_EQ(odd.parse().result.reasons, 0U);
    EXPECT_EQ(odd.parse().block->messages.size(), 2U);

    Sample behind{quotes};
    behind.bytes.resize(behind.bytes.size() + 5, std::byte{1});
    EXPECT_EQ(behind.parse().result.reasons, reason_bit(BlockReject::bytes_after_block));
    EXPECT_EQ(behind.parse().block->messages.size(), 2U);

    const Parsed unknown = Sample{quotes}.set(4, 'W').sum().parse();
    EXPECT_EQ(unknown.result.reasons, reason_bit(BlockReject::retransmission_unknown));
    EXPECT_EQ(unknown.result.reasons & ~remarks, 0U);

    // The types and participants are open sets, so unknown ones are accepted.
    const Parsed type = Sample{quotes}.set(21, '*').set(23, '#').sum().parse();
    EXPECT_EQ(type.result.reasons, 0U);
}

TEST(Check, UndecodableMessageEndsItsBlock) {
    constexpr std::size_t second = 21 + 29;
    const auto quotes = samples::short_quotes(3);
    const auto ends = [&](std::size_t at, std::uint8_t value, BlockReject reason) {
        const Parsed parsed = Sample{quotes}.set(second + at, value).sum().parse();
        EXPECT_TRUE(parsed.result.accepted);
        EXPECT_EQ(parsed.result.reasons, reason_bit(reason)) << "at " << at;
        EXPECT_EQ(parsed.block->messages.size(), 1U);
        EXPECT_EQ(parsed.block->messages_count, 3U);
    };
    ends(1, 'z', BlockReject::category_unknown);
    ends(3, 'Q', BlockReject::indicator_bad);
    ends(16, 'Y', BlockReject::expiration_bad);
    ends(16, '@', BlockReject::expiration_bad);
    ends(17, 0, BlockReject::expiration_bad);
    ends(17, 32, BlockReject::expiration_bad);
    ends(18, 100, BlockReject::expiration_bad);
    // The bytes behind the invalid message do not count as trailing bytes.
}

TEST(Check, EveryDenominatorCodeIsLookedAt) {
    const auto messages = samples::one_of_each();
    const auto damaged = [&](std::size_t index, std::size_t at) {
        Sample sample{{messages[index]}};
        sample.set(21 + at, 'J').sum();
        const Parsed parsed = sample.parse();
        EXPECT_TRUE(has(parsed, BlockReject::denominator_bad)) << index << " at " << at;
        EXPECT_TRUE(parsed.block->messages.empty());
    };
    for (std::size_t i = 0; i < messages.size(); ++i) {
        switch (messages[i].category()) {
            case 'a':
                damaged(i, 21);
                damaged(i, 30);
                break;
            case 'd':
                damaged(i, 21);
                break;
            case 'f':
                damaged(i, 21);
                damaged(i, 34);
                damaged(i, 55);
                break;
            case 'k':
                damaged(i, 21);
                damaged(i, 26);
                break;
            case 'R':
                damaged(i, 20);
                break;
            case 'Y':
                damaged(i, 18);
                break;
            default:
                break;
        }
    }
    for (const auto& [indicator, first, second] :
         {std::tuple{'C', true, false}, {'M', true, false}, {'O', true, true}}) {
        for (std::size_t at = 0; at < 2; ++at) {
            if (at == 0 ? first : second) {
                Sample sample{{samples::quote_with(indicator)}};
                sample.set(21 + 29 + 10 * at + 1, '@').sum();
                EXPECT_TRUE(has(sample.parse(), BlockReject::denominator_bad)) << indicator;
            }
        }
    }
}

TEST(Check, TrailingBytesLetTheMessagesStand) {
    for (std::size_t behind = 0; behind < 4; ++behind) {
        // 21 bytes of header, 12 of the message, and the pad.
        Sample sample{{samples::control('J')}};
        sample.bytes.resize(33 + behind);
        sample.set(2, static_cast<std::uint8_t>(33 + behind)).sum();
        EXPECT_EQ(has(sample.parse(), BlockReject::trailing_bytes), behind > 1) << behind;
        EXPECT_EQ(sample.parse().block->messages.size(), 1U);
    }
    Sample sample{samples::short_quotes(3)};
    sample.set(10, 2).sum();
    const Parsed parsed = sample.parse();
    EXPECT_TRUE(parsed.result.accepted);
    EXPECT_EQ(parsed.result.reasons, reason_bit(BlockReject::trailing_bytes));
    EXPECT_EQ(parsed.block->messages.size(), 2U);

    const Parsed missing = Sample{samples::short_quotes(3)}.set(10, 4).sum().parse();
    EXPECT_EQ(missing.result.reasons, reason_bit(BlockReject::message_truncated));
    EXPECT_EQ(missing.block->messages.size(), 3U);
}

BlockRole role_of(const std::vector<wire::Message>& messages, std::uint32_t* reasons = nullptr) {
    const Bytes bytes = samples::block(messages);
    Opra::Scratch scratch;
    Block out;
    const OpenResult result = Opra::check(bytes, true, scratch, out);
    EXPECT_TRUE(result.accepted);
    if (reasons != nullptr) {
        *reasons = result.reasons;
    }
    return out.role;
}

TEST(Check, ControlsSayTheRoleOfTheirBlock) {
    EXPECT_EQ(role_of({samples::control('N')}), BlockRole::line_integrity);
    EXPECT_EQ(role_of({samples::control('C')}), BlockRole::start_of_day);
    EXPECT_EQ(role_of({samples::control('K')}), BlockRole::reset);
    for (const char type : {'E', 'F', 'J', 'L', 'M', 'P', '?'}) {
        EXPECT_EQ(role_of({samples::control(type)}), BlockRole::data) << type;
    }
    std::uint32_t reasons = 0;
    EXPECT_EQ(role_of({samples::control('N'), samples::control('N')}, &reasons),
              BlockRole::line_integrity);
    EXPECT_EQ(reasons, reason_bit(BlockReject::control_not_alone));
    EXPECT_EQ(role_of({samples::control('E'), samples::control('K')}), BlockRole::data);
    EXPECT_EQ(role_of({samples::control('K'), samples::short_quotes(1)[0]}), BlockRole::data);
}

/// The result of Opra::ts_of_copy() for a block after another one. `change` changes the second one.
template <class Change>
std::optional<std::int64_t> ts_of_copy_after(Change change) {
    const wire::BlockHeader header{.retransmission = ' ',
                                   .session = 0,
                                   .sequence = 1000,
                                   .seconds = 1'700'000'000,
                                   .nanoseconds = 5};
    const std::vector<std::byte> first = samples::block(samples::short_quotes(2), header);
    std::vector<std::byte> second = first;
    change(second);
    fix_checksum(second);
    BlockStart start{};
    std::copy_n(first.begin(), start.size(), start.begin());
    const std::array starts{BlockStart{}, start};
    Block block;
    EXPECT_TRUE(Opra::open_repair(second, true, block).accepted);
    return Opra::ts_of_copy(starts, block);
}

TEST(Copies, MayDifferInTheirTimeAlone) {
    constexpr std::int64_t first_ts_ns = 1'700'000'000'000'000'005;
    const auto set = [](Field field, std::uint8_t value) {
        return ts_of_copy_after([&](std::vector<std::byte>& bytes) {
            bytes[field.at + field.bytes - 1] = std::byte{value};
        });
    };
    EXPECT_EQ(ts_of_copy_after([](auto&) {}), first_ts_ns);
    EXPECT_EQ(set(block::nanoseconds, 6), first_ts_ns);
    EXPECT_EQ(set(block::seconds, 17), first_ts_ns);
    EXPECT_EQ(set(block::sequence, 17), std::nullopt);
    EXPECT_EQ(set(block::messages, 1), std::nullopt);
    EXPECT_EQ(set(block::session, 1), std::nullopt);
    for (std::size_t at = block::header_bytes; at < samples::block(samples::short_quotes(2)).size();
         ++at) {
        EXPECT_EQ(ts_of_copy_after([at](auto& bytes) { bytes[at] ^= std::byte{1}; }), std::nullopt)
            << at;
    }
    EXPECT_EQ(ts_of_copy_after([](auto& bytes) {
                  bytes.pop_back();
                  put<block::size>(bytes.data(), static_cast<std::uint16_t>(bytes.size()));
              }),
              std::nullopt);
}

TEST(Lines, FollowThePublishedFormulas) {
    const auto groups = [](std::uint16_t number) { return *published_line(number); };
    const auto at = [](unsigned c, unsigned d, unsigned port) {
        return nic::Group{{224U << 24 | c << 8 | d}, static_cast<std::uint16_t>(port)};
    };
    EXPECT_EQ(groups(4).streams[0], at(204, 4, 45004));
    EXPECT_EQ(groups(4).streams[1], at(206, 4, 45004));
    EXPECT_EQ(groups(96).streams[1], at(206, 96, 45096));
    EXPECT_EQ(groups(96).retransmission[0], at(204, 223, 46096));
    EXPECT_EQ(groups(220).streams[0], at(204, 105, 45105));
    EXPECT_EQ(groups(225).streams[1], at(206, 110, 45110));
    EXPECT_EQ(groups(220).retransmission[1], at(206, 232, 46232));
    EXPECT_EQ(groups(201).streams[0], at(200, 1, 48001));
    EXPECT_EQ(groups(204).streams[1], at(200, 131, 48004));
    EXPECT_EQ(groups(204).retransmission[0], at(200, 19, 49004));
    EXPECT_EQ(groups(204).retransmission[1], at(200, 147, 49004));
    EXPECT_EQ(published_lines().size(), 106U);
    for (const std::uint16_t none : std::to_array<std::uint16_t>({0, 97, 200, 205, 219, 226})) {
        EXPECT_FALSE(published_line(none)) << none;
        EXPECT_FALSE(published_sources(none, Stream::a)) << none;
    }
}

TEST(Lines, NoGroupBelongsToTwo) {
    std::vector<nic::Group> groups;
    const auto numbers = published_lines();
    for (const LineConfig& line : published_lines(numbers)) {
        groups.insert(groups.end(), line.streams.begin(), line.streams.end());
        groups.insert(groups.end(), line.retransmission.begin(), line.retransmission.end());
    }
    EXPECT_EQ(groups.size(), 4 * 106U);
    std::sort(groups.begin(), groups.end());
    EXPECT_EQ(std::adjacent_find(groups.begin(), groups.end()), groups.end());
}

TEST(Lines, SendersComeFromTheirQuarter) {
    const auto third = [](std::uint16_t number, Stream stream, unsigned site) {
        const nic::Subnet subnet = (*published_sources(number, stream))[site];
        EXPECT_EQ(subnet.mask, 0xFFFF'FF00U);
        EXPECT_EQ(subnet.address.value >> 16, site == 0 ? 162U << 8 | 69U : 162U << 8 | 68U);
        return subnet.address.value >> 8 & 0xFF;
    };
    EXPECT_EQ(third(4, Stream::b, 0), 52U);
    EXPECT_EQ(third(24, Stream::a, 1), 44U);
    EXPECT_EQ(third(25, Stream::a, 0), 45U);
    EXPECT_EQ(third(96, Stream::b, 1), 55U);
    EXPECT_EQ(third(220, Stream::a, 0), 47U);
    EXPECT_EQ(third(201, Stream::a, 0), 44U);
    EXPECT_EQ(third(204, Stream::b, 0), 55U);
}

TEST(TestSymbols, AreThoseOfTheListAndNoOthers) {
    const auto tests = [](std::string_view symbol) {
        return is_test_symbol(symbol_word_of(symbol));
    };
    for (const std::string_view symbol : lettered_test_symbols) {
        EXPECT_TRUE(tests(symbol)) << symbol;
    }
    unsigned numbered = 0;
    for (unsigned number = 0; number < 100; ++number) {
        for (char letter = 'A'; letter <= 'Z'; ++letter) {
            const std::string symbol = std::to_string(100 + number).substr(1) + letter;
            const bool reserved = number >= 1 && number <= 12 &&
                                  std::string_view{"ANPVZ"}.find(letter) != std::string_view::npos;
            EXPECT_EQ(tests(symbol), reserved) << symbol;
            numbered += tests(symbol) ? 1 : 0;
        }
    }
    EXPECT_EQ(numbered, 60U);
    for (const std::string_view symbol :
         {"SPX", "ZTES", "TEST", "CBOE", "ZVZZ", "01", "01AA", "1A", "ZZKK", "", "atest", "IGZ1"}) {
        EXPECT_FALSE(tests(symbol)) << symbol;
    }
}

}  // namespace
}  // namespace pinstrike::feed::opra
