// path: hot
//
// The wire format. Offsets in the block header count from the start of the block, offsets in
// messages from the start of the message. Source: OPRA Block Header, Message Header, Message
// Categories and Types. A static_assert proves for each list that its fields leave no gap and do
// not overlap.
#pragma once

#include "feed/event/best_effect.h"
#include "feed/event/cursor.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace pinstrike::feed::opra {

/// A field: its offset and length in bytes.
struct Field {
    std::size_t at;
    std::size_t bytes;
};

/// True if the fields, in this order, cover [begin, end) exactly.
template <std::size_t N>
consteval bool covers(const std::array<Field, N>& fields, std::size_t begin, std::size_t end) {
    std::size_t next = begin;
    for (const Field& field : fields) {
        if (field.at != next || field.bytes == 0) {
            return false;
        }
        next += field.bytes;
    }
    return next == end;
}

namespace detail {
template <std::size_t Bytes>
using Unsigned = std::conditional_t<
    Bytes == 1, std::uint8_t,
    std::conditional_t<Bytes == 2, std::uint16_t,
                       std::conditional_t<Bytes == 4, std::uint32_t, std::uint64_t>>>;
}

/// The unsigned integer in field F of the block or message at `start`. The caller has checked the
/// length.
template <Field F>
[[nodiscard]] inline auto get(const std::byte* start) {
    static_assert(F.bytes == 1 || F.bytes == 2 || F.bytes == 4 || F.bytes == 8);
    return load_big_endian<detail::Unsigned<F.bytes>>(start + F.at);
}

/// The signed integer in field F.
template <Field F>
[[nodiscard]] inline auto get_signed(const std::byte* start) {
    return static_cast<std::make_signed_t<detail::Unsigned<F.bytes>>>(get<F>(start));
}

/// The character in field F.
template <Field F>
[[nodiscard]] inline char get_char(const std::byte* start) {
    static_assert(F.bytes == 1);
    return static_cast<char>(start[F.at]);
}

/// Writes an integer of the field's own width.
template <Field F, std::integral T>
inline void put(std::byte* start, T value) {
    static_assert(sizeof(T) == F.bytes);
    store_big_endian(start + F.at, value);
}

// clang-format off

namespace block {  // OPRA Block Header
inline constexpr Field version{0, 1}, size{1, 2}, feed{3, 1}, retransmission{4, 1}, session{5, 1},
    sequence{6, 4}, messages{10, 1}, seconds{11, 4}, nanoseconds{15, 4}, checksum{19, 2};
inline constexpr std::size_t header_bytes = 21;
inline constexpr std::size_t bytes_max = 1000;
inline constexpr std::size_t messages_max = 255;
static_assert(covers(std::array{version, size, feed, retransmission, session, sequence, messages,
                                seconds, nanoseconds, checksum}, 0, header_bytes));
}  // namespace block

namespace message {  // OPRA Message Header
inline constexpr Field participant{0, 1}, category{1, 1}, type{2, 1}, indicator{3, 1},
    transaction_id{4, 4}, reference{8, 4};
inline constexpr std::size_t header_bytes = 12;
static_assert(covers(std::array{participant, category, type, indicator, transaction_id, reference},
                     0, header_bytes));
}  // namespace message

namespace last_sale {  // OPRA Last Sale, a
inline constexpr Field symbol{12, 5}, reserved{17, 1}, expiration{18, 3}, strike_code{21, 1},
    strike{22, 4}, volume{26, 4}, price_code{30, 1}, price{31, 4}, trade_id{35, 4},
    reserved_tail{39, 4};
inline constexpr std::size_t bytes = 43;
static_assert(covers(std::array{symbol, reserved, expiration, strike_code, strike, volume,
                                price_code, price, trade_id, reserved_tail}, 12, bytes));
}  // namespace last_sale

namespace open_interest {  // OPRA Open Interest, d
inline constexpr Field symbol{12, 5}, reserved{17, 1}, expiration{18, 3}, strike_code{21, 1},
    strike{22, 4}, open_interest{26, 4};
inline constexpr std::size_t bytes = 30;
static_assert(covers(std::array{symbol, reserved, expiration, strike_code, strike, open_interest},
                     12, bytes));
}  // namespace open_interest

namespace end_of_day {  // OPRA End of Day Summary, f
inline constexpr Field symbol{12, 5}, reserved{17, 1}, expiration{18, 3}, strike_code{21, 1},
    strike{22, 4}, volume{26, 4}, open_interest{30, 4}, price_code{34, 1}, open{35, 4},
    high{39, 4}, low{43, 4}, last{47, 4}, net_change{51, 4}, underlying_code{55, 1},
    underlying{56, 8}, bid{64, 4}, offer{68, 4};
inline constexpr std::size_t bytes = 72;
static_assert(covers(std::array{symbol, reserved, expiration, strike_code, strike, volume,
                                open_interest, price_code, open, high, low, last, net_change,
                                underlying_code, underlying, bid, offer}, 12, bytes));
}  // namespace end_of_day

namespace long_quote {  // OPRA Long Quote, k
inline constexpr Field symbol{12, 5}, reserved{17, 1}, expiration{18, 3}, strike_code{21, 1},
    strike{22, 4}, price_code{26, 1}, bid{27, 4}, bid_size{31, 4}, offer{35, 4},
    offer_size{39, 4};
inline constexpr std::size_t bytes = 43;  // without appendages
static_assert(covers(std::array{symbol, reserved, expiration, strike_code, strike, price_code, bid,
                                bid_size, offer, offer_size}, 12, bytes));
}  // namespace long_quote

namespace short_quote {  // OPRA Short Quote, q
inline constexpr Field symbol{12, 4}, expiration{16, 3}, strike{19, 2}, bid{21, 2},
    bid_size{23, 2}, offer{25, 2}, offer_size{27, 2};
inline constexpr std::size_t bytes = 29;  // without appendages
inline constexpr char strike_code = 'A';  // implied
inline constexpr char price_code = 'B';   // implied
static_assert(covers(std::array{symbol, expiration, strike, bid, bid_size, offer, offer_size}, 12,
                     bytes));
}  // namespace short_quote

namespace appendage {  // OPRA Appendage, after k and q
inline constexpr Field participant{0, 1}, code{1, 1}, price{2, 4}, size{6, 4};
inline constexpr std::size_t bytes = 10;
static_assert(covers(std::array{participant, code, price, size}, 0, bytes));
}  // namespace appendage

namespace text {  // OPRA Administrative, C
inline constexpr Field length{12, 2};
inline constexpr std::size_t bytes = 14;  // without the text itself
static_assert(covers(std::array{length}, 12, bytes));
}  // namespace text

namespace control {  // OPRA Control, H
inline constexpr std::size_t bytes = message::header_bytes;
}  // namespace control

namespace series_map {  // OPRA Series Mapping, R; no reserved byte after the symbol
inline constexpr Field symbol{12, 5}, expiration{17, 3}, strike_code{20, 1}, strike{21, 4},
    mapped_line{25, 2}, reserved{27, 128};
inline constexpr std::size_t bytes = 155;
static_assert(covers(std::array{symbol, expiration, strike_code, strike, mapped_line, reserved},
                     12, bytes));
}  // namespace series_map

namespace underlying {  // OPRA Underlying Value, Y
inline constexpr Field symbol{12, 5}, reserved{17, 1}, code{18, 1}, value{19, 4},
    reserved_tail{23, 4};
inline constexpr Field bid{19, 4}, offer{23, 4};  // type I
inline constexpr std::size_t bytes = 27;
static_assert(covers(std::array{symbol, reserved, code, value, reserved_tail}, 12, bytes));
static_assert(covers(std::array{symbol, reserved, code, bid, offer}, 12, bytes));
}  // namespace underlying

// clang-format on

/// In appendages_bytes: the indicator is unknown.
inline constexpr std::uint8_t appendages_unknown = 0xFF;

/// Bytes of appendages by indicator byte: 0, 10, 20, or appendages_unknown.
inline constexpr auto appendages_bytes = [] {
    std::array<std::uint8_t, 256> table{};
    for (unsigned byte = 0; byte < 256; ++byte) {
        const auto indicator = static_cast<char>(byte);
        const IndicatorEffect effect = effect_of(indicator);
        const unsigned count = (effect.bid == BestEffect::appendage ? 1U : 0U) +
                               (effect.offer == BestEffect::appendage ? 1U : 0U);
        table[byte] =
            known_indicator(indicator) ? static_cast<std::uint8_t>(10 * count) : appendages_unknown;
    }
    return table;
}();

/// The sides for which an indicator byte announces an appendage: bit 0 the bid, bit 1 the offer.
inline constexpr auto appendage_sides = [] {
    std::array<std::uint8_t, 256> table{};
    for (unsigned byte = 0; byte < 256; ++byte) {
        const IndicatorEffect effect = effect_of(static_cast<char>(byte));
        table[byte] = static_cast<std::uint8_t>((effect.bid == BestEffect::appendage ? 1 : 0) |
                                                (effect.offer == BestEffect::appendage ? 2 : 0));
    }
    return table;
}();

/// The highest number of a message.
inline constexpr std::uint64_t sequence_max = 0xFFFF'FFFF;

/// The number of message `index` of a block that begins with `sequence`. After sequence_max comes
/// 1, because 0 is never a data number (OPRA Block Sequence Number).
[[nodiscard]] constexpr std::uint32_t sequence_of(std::uint64_t sequence, unsigned index) {
    const std::uint64_t sum = sequence + index;
    return static_cast<std::uint32_t>(sum > sequence_max ? sum - sequence_max : sum);
}

/// Whether so many messages from this number on are numbered without a wrap.
[[nodiscard]] constexpr bool counts_on(std::uint64_t sequence, unsigned messages) {
    return sequence + messages <= std::uint64_t{1} << 32;
}

}  // namespace pinstrike::feed::opra
