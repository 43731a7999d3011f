// path: hot
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>

namespace pinstrike::feed {

/// One option series of one session: 16 bytes, compared and hashed as two words.
///
/// `name` holds, in memory order: symbol (5 ASCII bytes, space filled), the expiration letter
/// (A-L call, M-X put, by month; bit 7 set for the GTH session, which has separate series), day,
/// year - 2000. `strike_e8` is the strike in units of 1e-8, so the same strike sent with two
/// denominators is one key. Source: OPRA Denominator Code, Expiration Block.
struct SeriesKey {
    std::uint64_t name = 0;
    std::int64_t strike_e8 = 0;

    static constexpr unsigned symbol_bytes = 5;
    static constexpr std::uint64_t symbol_mask = 0xFF'FFFF'FFFFULL;
    static constexpr std::uint8_t gth_bit = 0x80;

    friend bool operator==(const SeriesKey&, const SeriesKey&) = default;

    [[nodiscard]] std::array<char, 8> bytes() const {
        return std::bit_cast<std::array<char, 8>>(name);
    }

    /// The symbol's five bytes alone, in the low 40 bits (little endian).
    [[nodiscard]] std::uint64_t symbol_word() const { return name & symbol_mask; }

    [[nodiscard]] bool gth() const {
        return (static_cast<std::uint8_t>(bytes()[5]) & gth_bit) != 0;
    }

    [[nodiscard]] static constexpr char letter_of(unsigned month, bool call) {
        return static_cast<char>((call ? 'A' : 'M') + month - 1);
    }

    [[nodiscard]] char expiration_letter() const {
        return static_cast<char>(static_cast<std::uint8_t>(bytes()[5]) & ~gth_bit);
    }

    [[nodiscard]] bool call() const { return expiration_letter() <= 'L'; }

    [[nodiscard]] unsigned month() const {
        return static_cast<unsigned>(expiration_letter() - (call() ? 'A' : 'M')) + 1;
    }

    [[nodiscard]] unsigned day() const { return static_cast<std::uint8_t>(bytes()[6]); }

    [[nodiscard]] unsigned year() const { return 2000U + static_cast<std::uint8_t>(bytes()[7]); }

    /// True if a message can name this series. For keys from outside the process.
    [[nodiscard]] bool is_valid() const {
        const auto name_bytes = bytes();
        const auto is_text = [](char byte) { return byte >= ' ' && byte <= '~'; };
        const char letter = expiration_letter();
        return name_bytes[0] != ' ' &&
               std::all_of(name_bytes.data(), name_bytes.data() + symbol_bytes, is_text) &&
               letter >= letter_of(1, true) && letter <= letter_of(12, false) && day() >= 1 &&
               day() <= 31 && strike_e8 >= 0;
    }
};

static_assert(sizeof(SeriesKey) == 16);

/// A symbol, of which more than five characters do not count, as SeriesKey::symbol_word().
[[nodiscard]] constexpr std::uint64_t symbol_word_of(std::string_view symbol) {
    std::array<char, sizeof(std::uint64_t)> bytes{};
    for (std::size_t i = 0; i < SeriesKey::symbol_bytes; ++i) {
        bytes[i] = i < symbol.size() ? symbol[i] : ' ';
    }
    return std::bit_cast<std::uint64_t>(bytes);
}

/// The order of lists for people: by symbol, expiration, strike, right (call first) and session
/// (regular first).
[[nodiscard]] inline bool comes_before(const SeriesKey& a, const SeriesKey& b) {
    const auto place = [](const SeriesKey& key) {
        return std::tuple{__builtin_bswap64(key.symbol_word()),
                          key.year(),
                          key.month(),
                          key.day(),
                          key.strike_e8,
                          !key.call(),
                          key.gth()};
    };
    return place(a) < place(b);
}

__extension__ using Wide = unsigned __int128;

/// A multiply-fold: the xor of the high and low half of a 128-bit product. Good enough for a table
/// indexed by the low bits and a router that uses the high bits.
inline std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
    const auto product = static_cast<Wide>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

/// The hash of a series, for router and table.
inline std::uint64_t hash(const SeriesKey& key) {
    return fold(key.name ^ 0x9E37'79B9'7F4A'7C15ULL,
                static_cast<std::uint64_t>(key.strike_e8) ^ 0xD6E8'FEB8'6659'FD93ULL);
}

/// The hash of the symbol alone, for sharding by underlying.
inline std::uint64_t hash_symbol(std::uint64_t symbol_word) {
    return fold(symbol_word ^ 0x9E37'79B9'7F4A'7C15ULL, 0xD6E8'FEB8'6659'FD93ULL);
}

}  // namespace pinstrike::feed
