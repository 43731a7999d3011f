// path: cold
#include "tests/feed/opra/samples.h"

#include <limits>

namespace pinstrike::feed::opra::samples {

namespace {

template <class T>
T any(Random& random) {
    return static_cast<T>(random());
}

unsigned below(Random& random, unsigned bound) {
    return static_cast<unsigned>(random() % bound);
}

char code(Random& random) {
    return static_cast<char>('A' + below(random, 9));
}

template <std::size_t N>
std::array<char, N> symbol(Random& random) {
    std::array<char, N> chars{};
    for (char& c : chars) {
        c = any<char>(random);
    }
    return chars;
}

wire::Expiration expiration(Random& random) {
    return {.letter = static_cast<char>('A' + below(random, 24)),
            .day = static_cast<std::uint8_t>(1 + below(random, 31)),
            .year = static_cast<std::uint8_t>(below(random, 100))};
}

wire::Series series(Random& random) {
    return {.symbol = symbol<5>(random),
            .expiration = expiration(random),
            .strike_code = code(random),
            .strike = any<std::int32_t>(random)};
}

wire::Appendage appendage(Random& random, bool present) {
    if (!present) {
        return {};
    }
    return {.participant = any<char>(random),
            .code = code(random),
            .price = any<std::int32_t>(random),
            .size = any<std::uint32_t>(random)};
}

wire::LongQuote long_quote(Random& random, IndicatorEffect effect) {
    return {.series = series(random),
            .price_code = code(random),
            .bid = any<std::int32_t>(random),
            .bid_size = any<std::uint32_t>(random),
            .offer = any<std::int32_t>(random),
            .offer_size = any<std::uint32_t>(random),
            .best_bid = appendage(random, effect.bid == BestEffect::appendage),
            .best_offer = appendage(random, effect.offer == BestEffect::appendage),
            .reserved = any<std::uint8_t>(random)};
}

wire::ShortQuote short_quote(Random& random, IndicatorEffect effect) {
    return {.symbol = symbol<4>(random),
            .expiration = expiration(random),
            .strike = any<std::uint16_t>(random),
            .bid = any<std::uint16_t>(random),
            .bid_size = any<std::uint16_t>(random),
            .offer = any<std::uint16_t>(random),
            .offer_size = any<std::uint16_t>(random),
            .best_bid = appendage(random, effect.bid == BestEffect::appendage),
            .best_offer = appendage(random, effect.offer == BestEffect::appendage)};
}

wire::EndOfDay end_of_day(Random& random) {
    return {.series = series(random),
            .volume = any<std::uint32_t>(random),
            .open_interest = any<std::uint32_t>(random),
            .price_code = code(random),
            .open = any<std::int32_t>(random),
            .high = any<std::int32_t>(random),
            .low = any<std::int32_t>(random),
            .last = any<std::int32_t>(random),
            .net_change = any<std::int32_t>(random),
            .underlying_code = code(random),
            .underlying = any<std::int64_t>(random),
            .bid = any<std::int32_t>(random),
            .offer = any<std::int32_t>(random),
            .reserved = any<std::uint8_t>(random)};
}

wire::Text text(Random& random) {
    wire::Text body{std::string(below(random, 300), ' ')};
    for (char& c : body.text) {
        c = any<char>(random);
    }
    return body;
}

wire::SeriesMap series_map(Random& random) {
    wire::SeriesMap map{
        .series = series(random), .mapped_line = any<std::uint16_t>(random), .reserved = {}};
    for (std::byte& byte : map.reserved) {
        byte = any<std::byte>(random);
    }
    return map;
}

wire::Body random_body(Random& random, unsigned which, IndicatorEffect effect) {
    switch (which) {
        case 0:
            return wire::LastSale{series(random),
                                  any<std::uint32_t>(random),
                                  code(random),
                                  any<std::int32_t>(random),
                                  any<std::uint32_t>(random),
                                  any<std::uint8_t>(random),
                                  any<std::uint32_t>(random)};
        case 1:
            return wire::OpenInterest{series(random), any<std::uint32_t>(random),
                                      any<std::uint8_t>(random)};
        case 2:
            return end_of_day(random);
        case 3:
        case 4:
            return long_quote(random, effect);
        case 5:
            return text(random);
        case 6:
            return wire::Control{};
        case 7:
            return series_map(random);
        case 8:
            return wire::Underlying{symbol<5>(random), code(random), any<std::int32_t>(random),
                                    any<std::int32_t>(random), any<std::uint8_t>(random)};
        default:
            return short_quote(random, effect);
    }
}

/// A printable series, for samples whose bytes a person may read.
wire::Series plain_series() {
    return {.symbol = wire::padded("SPXW"),
            .expiration = {.letter = 'O', .day = 21, .year = 25},
            .strike_code = 'A',
            .strike = 45000};
}

wire::ShortQuote plain_quote() {
    return {.symbol = wire::padded<4>("AAPL"),
            .expiration = {.letter = 'C', .day = 20, .year = 26},
            .strike = 2000,
            .bid = 115,
            .bid_size = 12,
            .offer = 117,
            .offer_size = 40,
            .best_bid = {.participant = 'N', .code = 'B', .price = 116, .size = 30},
            .best_offer = {.participant = 'C', .code = 'A', .price = 11, .size = 7}};
}

}  // namespace

std::vector<std::byte> block(const std::vector<wire::Message>& messages,
                             const wire::BlockHeader& header) {
    std::vector<std::byte> bytes(block::bytes_max);
    BlockBuilder builder{bytes};
    builder.begin(header);
    for (const wire::Message& message : messages) {
        if (!builder.add(message)) {
            break;
        }
    }
    const auto whole = builder.finish();
    bytes.resize(whole.size());
    return bytes;
}

wire::Message control(char type) {
    return {{.participant = 'O', .type = type}, wire::Control{}};
}

wire::Message quote_with(char indicator) {
    return {{.participant = 'P', .type = ' ', .indicator = indicator, .transaction_id = 77},
            plain_quote()};
}

std::vector<wire::Message> short_quotes(unsigned count) {
    return std::vector<wire::Message>(count, quote_with('A'));
}

std::vector<wire::Message> one_of_each() {
    const wire::LongQuote wide{
        .series = plain_series(),
        .price_code = 'B',
        .bid = 12345678,
        .bid_size = 1,
        .offer = 12345679,
        .offer_size = 100000,
        .best_bid = {.participant = 'M', .code = 'C', .price = 5, .size = 6},
        .best_offer = {.participant = 'Z', .code = 'B', .price = 7, .size = 8}};
    wire::EndOfDay summary{.series = plain_series()};
    summary.net_change = -5;
    summary.underlying = 454321;
    std::vector<wire::Message> all;
    const auto add = [&all](const wire::Header& header, wire::Body body) {
        all.push_back({header, std::move(body)});
    };
    add({.participant = 'C', .type = 'I', .reference = 9},
        wire::LastSale{.series = plain_series(), .volume = 10, .price = 250});
    add({.participant = 'C'}, wire::OpenInterest{.series = plain_series(), .open_interest = 321});
    add({.participant = 'C'}, summary);
    add({.participant = 'C', .indicator = 'B'}, wide);
    add({.participant = 'C', .indicator = 'O'}, wide);
    for (const char indicator : {' ', 'C', 'M', 'O'}) {
        all.push_back(quote_with(indicator));
    }
    add({.participant = 'C'}, wire::Text("HALTED \"XYZ\" \x01\xE9"));
    add({.participant = 'O'}, wire::Text{});
    all.push_back(control('N'));
    all.push_back(control('J'));
    add({.participant = 'O', .type = 'A'},
        wire::SeriesMap{.series = plain_series(), .mapped_line = 7});
    add({.participant = 'C'}, wire::Underlying{wire::padded("SPX"), 'B', 450000, 0});
    add({.participant = 'C', .type = 'I'}, wire::Underlying{wire::padded("SPX"), 'B', 1, 2});
    return all;
}

wire::Message random_message(Random& random) {
    wire::Message message;
    message.header = {.participant = any<char>(random),
                      .type = any<char>(random),
                      .indicator = any<char>(random),
                      .transaction_id = any<std::uint32_t>(random),
                      .reference = any<std::uint32_t>(random)};
    const unsigned which = below(random, 14);
    const bool quote = which == 3 || which == 4 || which > 8;
    if (quote) {
        const unsigned cell = below(random, 17);
        message.header.indicator = cell == 16 ? ' ' : static_cast<char>('A' + cell);
    }
    message.body = random_body(random, which, effect_of(quote ? message.header.indicator : ' '));
    return message;
}

std::vector<std::byte> random_block(Random& random, unsigned count) {
    std::vector<wire::Message> messages;
    for (unsigned i = 0; i < count; ++i) {
        messages.push_back(random_message(random));
    }
    return block(messages, {.retransmission = below(random, 4) == 0 ? 'V' : ' ',
                            .session = any<std::uint8_t>(random),
                            .sequence = any<std::uint32_t>(random),
                            .seconds = any<std::uint32_t>(random),
                            .nanoseconds = below(random, 1'000'000'000)});
}

}  // namespace pinstrike::feed::opra::samples
