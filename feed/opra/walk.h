// path: hot
//
// Checks messages: whether they are complete and decodable, and how long they are. Messages do not
// carry their length, so a message that cannot be decoded ends its block (OPRA Message Header).
// inspect_message() checks one message of any kind, find_quotes() consecutive quotes.
#pragma once

#include "feed/event/block.h"
#include "feed/opra/layout.h"
#include "feed/opra/quote_event.h"
#include "feed/opra/rejects.h"

#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace pinstrike::feed::opra {

/// The length of a decodable message; or 0, and the reason why the message cannot be decoded.
struct MessageVerdict {
    std::uint32_t bytes = 0;
    BlockReject reason{};
};

[[nodiscard]] inline bool good_code(std::byte code) {
    return static_cast<std::uint8_t>(static_cast<std::uint8_t>(code) - 'A') <= 'I' - 'A';
}

/// Month A-X, day 1-31, year 0-99 (OPRA Expiration Block).
[[nodiscard]] inline bool good_expiration(const std::byte* at) {
    const auto month = static_cast<std::uint8_t>(static_cast<std::uint8_t>(at[0]) - 'A');
    const auto day = static_cast<std::uint8_t>(static_cast<std::uint8_t>(at[1]) - 1);
    const auto year = static_cast<std::uint8_t>(at[2]);
    return (month < 24) & (day < 31) & (year < 100);
}

namespace detail {

[[nodiscard]] inline MessageVerdict refused(BlockReject reason) {
    return {0, reason};
}

/// Checks a message of fixed length that has these denominator codes and, unless Expiration is
/// empty, an expiration.
template <std::size_t Bytes, Field Expiration, Field... Codes>
[[nodiscard]] inline MessageVerdict inspect_fixed(const std::byte* m, std::size_t left) {
    if (left < Bytes) {
        return refused(BlockReject::message_truncated);
    }
    if constexpr (Expiration.bytes != 0) {
        if (!good_expiration(m + Expiration.at)) {
            return refused(BlockReject::expiration_bad);
        }
    }
    if (!(true & ... & good_code(m[Codes.at]))) {
        return refused(BlockReject::denominator_bad);
    }
    return {Bytes, {}};
}

/// Checks a quote (k or q): its fixed part, and the appendages that the indicator announces.
template <std::size_t Bytes, Field Expiration, Field... Codes>
[[nodiscard]] inline MessageVerdict inspect_quote(const std::byte* m, std::size_t left) {
    const unsigned extra = appendages_bytes[static_cast<std::uint8_t>(m[message::indicator.at])];
    if (extra == 0) [[likely]] {
        return inspect_fixed<Bytes, Expiration, Codes...>(m, left);
    }
    if (extra == appendages_unknown) {
        return refused(BlockReject::indicator_bad);
    }
    const std::size_t bytes = Bytes + extra;
    if (left < bytes) {
        return refused(BlockReject::message_truncated);
    }
    // If there is one appendage, it is both the first and the last.
    const std::byte first_code = m[Bytes + appendage::code.at];
    const std::byte last_code = m[bytes - appendage::bytes + appendage::code.at];
    if (!good_code(first_code) || !good_code(last_code)) {
        return refused(BlockReject::denominator_bad);
    }
    MessageVerdict verdict = inspect_fixed<Bytes, Expiration, Codes...>(m, left);
    verdict.bytes += verdict.bytes == 0 ? 0 : extra;
    return verdict;
}

[[nodiscard]] inline MessageVerdict inspect_text(const std::byte* m, std::size_t left) {
    if (left < text::bytes) {
        return refused(BlockReject::message_truncated);
    }
    const std::uint32_t bytes = text::bytes + std::uint32_t{get<text::length>(m)};
    return left < bytes ? refused(BlockReject::message_truncated) : MessageVerdict{bytes, {}};
}

inline constexpr Field no_expiration{0, 0};

[[nodiscard]] inline MessageVerdict inspect_other(char category, const std::byte* m,
                                                  std::size_t left) {
    switch (category) {
        case 'a':
            return inspect_fixed<last_sale::bytes, last_sale::expiration, last_sale::strike_code,
                                 last_sale::price_code>(m, left);
        case 'd':
            return inspect_fixed<open_interest::bytes, open_interest::expiration,
                                 open_interest::strike_code>(m, left);
        case 'f':
            return inspect_fixed<end_of_day::bytes, end_of_day::expiration, end_of_day::strike_code,
                                 end_of_day::price_code, end_of_day::underlying_code>(m, left);
        case 'C':
            return inspect_text(m, left);
        case 'H':
            return {control::bytes, {}};
        case 'R':
            return inspect_fixed<series_map::bytes, series_map::expiration,
                                 series_map::strike_code>(m, left);
        case 'Y':
            return inspect_fixed<underlying::bytes, no_expiration, underlying::code>(m, left);
        default:
            return refused(BlockReject::category_unknown);
    }
}

}  // namespace detail

/// Checks the message at `m`, of which at most `left` bytes are in the block. Reads no byte after
/// them.
[[nodiscard]] inline MessageVerdict inspect_message(const std::byte* m, std::size_t left) {
    if (left < message::header_bytes) [[unlikely]] {
        return detail::refused(BlockReject::message_truncated);
    }
    const char category = get_char<message::category>(m);
    if (category == 'q') [[likely]] {
        return detail::inspect_quote<short_quote::bytes, short_quote::expiration>(m, left);
    }
    if (category == 'k') {
        return detail::inspect_quote<long_quote::bytes, long_quote::expiration,
                                     long_quote::strike_code, long_quote::price_code>(m, left);
    }
    return detail::inspect_other(category, m, left);
}

/// Finds the next quotes of a block, at most `count`, up to the first other message. They may have
/// any form, and there is no branch on it. Stores their places and moves `at` past them. Returns
/// the number of quotes; 0 if inspect_message() would refuse one of them.
[[nodiscard]] inline unsigned find_quotes(std::span<const std::byte> block, unsigned count,
                                          MessagePlace* places, std::size_t& at) {
    const std::size_t size = block.size();
    __m256i wrong = _mm256_setzero_si256();
    std::size_t next = at;
    unsigned found = 0;
    for (; found < count && next + short_quote::bytes <= size; ++found) {
        const std::byte* m = block.data() + next;
        const QuoteShape shape = quote_shape_of(m);
        const std::size_t end = next + shape.bytes();
        if (end > size) {  // also if the message is not a quote
            break;
        }
        const detail::QuoteLimits& limits = detail::quote_limits[shape.form()];
        wrong = _mm256_or_si256(wrong, detail::excess(m - detail::before_head, limits.head));
        wrong = _mm256_or_si256(wrong, detail::excess(block.data() + end - 32, limits.tail));
        places[found] = {static_cast<std::uint16_t>(next), shape.form()};
        next = end;
    }
    if (_mm256_testz_si256(wrong, wrong) == 0) {
        return 0;
    }
    at = next;
    return found;
}

}  // namespace pinstrike::feed::opra
