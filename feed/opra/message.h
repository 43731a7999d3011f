// path: cold
//
// Messages and blocks in full, for tools (decode, generate, tests). Every byte of the wire has a
// field, including reserved bytes, so encoding a decoded block gives the same bytes. The poll path
// does not use these types, because it decodes bytes directly to Events (decode.h).
#pragma once

#include "feed/opra/layout.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace pinstrike::feed::opra::wire {

/// Space filled, as sent.
using Symbol = std::array<char, 5>;

inline constexpr Symbol blank_symbol{' ', ' ', ' ', ' ', ' '};

/// The 12 bytes before every message, without the category, which the body implies (OPRA Message
/// Header).
struct Header {
    char participant = 'O';
    char type = ' ';
    char indicator = ' ';
    std::uint32_t transaction_id = 0;
    std::uint32_t reference = 0;

    friend bool operator==(const Header&, const Header&) = default;
};

/// Expiration block. The letter says the month: A-L for calls, M-X for puts. The year counts from
/// 2000 (OPRA Expiration Block).
struct Expiration {
    char letter = 'A';
    std::uint8_t day = 1;
    std::uint8_t year = 0;

    friend bool operator==(const Expiration&, const Expiration&) = default;
};

/// Symbol, expiration and strike (value = strike / 10^decimals(strike_code)).
struct Series {
    Symbol symbol = blank_symbol;
    Expiration expiration;
    char strike_code = 'A';
    std::int32_t strike = 0;

    friend bool operator==(const Series&, const Series&) = default;
};

struct LastSale {  // a
    static constexpr char category = 'a';
    static constexpr std::string_view name = "last sale";
    static constexpr std::size_t bytes = opra::last_sale::bytes;
    Series series;
    std::uint32_t volume = 0;
    char price_code = 'B';
    std::int32_t price = 0;
    std::uint32_t trade_id = 0;
    std::uint8_t reserved = 0;
    std::uint32_t reserved_tail = 0;

    friend bool operator==(const LastSale&, const LastSale&) = default;
};

struct OpenInterest {  // d
    static constexpr char category = 'd';
    static constexpr std::string_view name = "open interest";
    static constexpr std::size_t bytes = opra::open_interest::bytes;
    Series series;
    std::uint32_t open_interest = 0;
    std::uint8_t reserved = 0;

    friend bool operator==(const OpenInterest&, const OpenInterest&) = default;
};

struct EndOfDay {  // f
    static constexpr char category = 'f';
    static constexpr std::string_view name = "end of day";
    static constexpr std::size_t bytes = opra::end_of_day::bytes;
    Series series;
    std::uint32_t volume = 0;
    std::uint32_t open_interest = 0;
    char price_code = 'B';
    std::int32_t open = 0;
    std::int32_t high = 0;
    std::int32_t low = 0;
    std::int32_t last = 0;
    std::int32_t net_change = 0;
    char underlying_code = 'B';
    std::int64_t underlying = 0;
    std::int32_t bid = 0;
    std::int32_t offer = 0;
    std::uint8_t reserved = 0;

    friend bool operator==(const EndOfDay&, const EndOfDay&) = default;
};

/// The best bid or offer after a quote; on the wire only if the indicator announces it.
struct Appendage {
    char participant = ' ';
    char code = 'B';
    std::int32_t price = 0;
    std::uint32_t size = 0;

    friend bool operator==(const Appendage&, const Appendage&) = default;
};

struct LongQuote {  // k
    static constexpr char category = 'k';
    static constexpr std::string_view name = "long quote";
    static constexpr std::size_t bytes = opra::long_quote::bytes;
    Series series;
    char price_code = 'B';
    std::int32_t bid = 0;
    std::uint32_t bid_size = 0;
    std::int32_t offer = 0;
    std::uint32_t offer_size = 0;
    Appendage best_bid;
    Appendage best_offer;
    std::uint8_t reserved = 0;

    friend bool operator==(const LongQuote&, const LongQuote&) = default;
};

struct ShortQuote {  // q: strike in tenths, prices in cents
    static constexpr char category = 'q';
    static constexpr std::string_view name = "short quote";
    static constexpr std::size_t bytes = opra::short_quote::bytes;
    std::array<char, 4> symbol{' ', ' ', ' ', ' '};
    Expiration expiration;
    std::uint16_t strike = 0;
    std::uint16_t bid = 0;
    std::uint16_t bid_size = 0;
    std::uint16_t offer = 0;
    std::uint16_t offer_size = 0;
    Appendage best_bid;
    Appendage best_offer;

    friend bool operator==(const ShortQuote&, const ShortQuote&) = default;
};

/// C. Its special members are defined in message.cpp, because g++ 12 warns of invalid frees if it
/// inlines them into those of the variant.
struct Text {
    static constexpr char category = 'C';
    static constexpr std::string_view name = "text";
    static constexpr std::size_t bytes = opra::text::bytes;
    std::string text;

    Text();
    explicit Text(std::string words);
    Text(const Text&);
    Text(Text&&) noexcept;
    Text& operator=(const Text&);
    Text& operator=(Text&&) noexcept;
    ~Text();

    friend bool operator==(const Text&, const Text&) = default;
};

struct Control {  // H
    static constexpr char category = 'H';
    static constexpr std::string_view name = "control";
    static constexpr std::size_t bytes = opra::control::bytes;

    friend bool operator==(const Control&, const Control&) = default;
};

struct SeriesMap {  // R
    static constexpr char category = 'R';
    static constexpr std::string_view name = "series map";
    static constexpr std::size_t bytes = opra::series_map::bytes;
    Series series;
    std::uint16_t mapped_line = 0;
    std::array<std::byte, series_map::reserved.bytes> reserved{};

    friend bool operator==(const SeriesMap&, const SeriesMap&) = default;
};

/// Y. Type I: `first` is the bid, `second` the offer; any other type: `first` is the value and
/// `second` is reserved.
struct Underlying {
    static constexpr char category = 'Y';
    static constexpr std::string_view name = "underlying";
    static constexpr std::size_t bytes = opra::underlying::bytes;
    Symbol symbol = blank_symbol;
    char code = 'B';
    std::int32_t first = 0;
    std::int32_t second = 0;
    std::uint8_t reserved = 0;

    friend bool operator==(const Underlying&, const Underlying&) = default;
};

using Body = std::variant<LastSale, OpenInterest, EndOfDay, LongQuote, ShortQuote, Text, Control,
                          SeriesMap, Underlying>;

struct Message {
    Header header;
    Body body;

    [[nodiscard]] char category() const {
        return std::visit([](const auto& some) { return some.category; }, body);
    }

    friend bool operator==(const Message&, const Message&) = default;
};

/// The block header without size, count and checksum, which follow from the rest (OPRA Block
/// Header).
struct BlockHeader {
    char retransmission = ' ';
    std::uint8_t session = 0;
    std::uint32_t sequence = 0;
    std::uint32_t seconds = 0;
    std::uint32_t nanoseconds = 0;
};

/// An accepted block. `tail` holds the bytes after its last decodable message: nothing, the pad, or
/// messages that cannot be decoded (then messages.size() < messages_count).
struct DecodedBlock {
    BlockHeader header;
    std::uint8_t messages_count = 0;  ///< as the header says
    std::vector<Message> messages;
    std::vector<std::byte> tail;
};

/// The first N characters of `text`, padded with spaces to N.
template <std::size_t N = 5>
[[nodiscard]] constexpr std::array<char, N> padded(std::string_view text) {
    std::array<char, N> symbol{};
    for (std::size_t i = 0; i < N; ++i) {
        symbol[i] = i < text.size() ? text[i] : ' ';
    }
    return symbol;
}

/// A symbol without the spaces that fill it.
template <std::size_t N>
[[nodiscard]] std::string_view trimmed(const std::array<char, N>& symbol) {
    const std::string_view whole{symbol.data(), N};
    return whole.substr(0, whole.find_last_not_of(' ') + 1);
}

}  // namespace pinstrike::feed::opra::wire
