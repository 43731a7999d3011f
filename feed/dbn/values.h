// path: hot
//
// Prices as DBN has them, and the publishers of dataset OPRA.PILLAR.
#pragma once

#include "feed/dbn/records.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace pinstrike::feed::dbn {

inline constexpr std::string_view dataset = "OPRA.PILLAR";

/// The exchange and the first part of the group in definitions.
inline constexpr std::string_view exchange = "OPRA";
inline constexpr std::string_view group_prefix = "popra-";

/// The publisher of consolidated records.
inline constexpr std::uint16_t consolidated_publisher = 30;

/// The flags of every record of this dataset.
inline constexpr std::uint8_t record_flags = flag_last | flag_top_of_book | flag_publisher_specific;

/// 10^(9 - decimals).
inline constexpr std::array<std::int64_t, 9> price_factors{
    1'000'000'000, 100'000'000, 10'000'000, 1'000'000, 100'000, 10'000, 1'000, 100, 10};

/// A price of `value` * 10^-decimals in units of 1e-9; `decimals` is at most 8.
[[nodiscard]] constexpr std::int64_t price_of(std::int32_t value, unsigned decimals) {
    return value * price_factors[decimals < price_factors.size() ? decimals : 0];
}

/// Publishers of participants, by the letter from A on.
inline constexpr std::array<std::uint16_t, 26> publishers = [] {
    std::array<std::uint16_t, 26> by_letter{};
    constexpr std::array known{std::pair{'A', 20}, std::pair{'B', 21}, std::pair{'C', 22},
                               std::pair{'D', 23}, std::pair{'E', 24}, std::pair{'G', 108},
                               std::pair{'H', 25}, std::pair{'I', 26}, std::pair{'J', 27},
                               std::pair{'M', 28}, std::pair{'N', 29}, std::pair{'O', 30},
                               std::pair{'P', 31}, std::pair{'Q', 32}, std::pair{'S', 61},
                               std::pair{'T', 33}, std::pair{'U', 37}, std::pair{'V', 109},
                               std::pair{'W', 34}, std::pair{'X', 35}, std::pair{'Z', 36}};
    for (const auto& [letter, publisher] : known) {
        by_letter[static_cast<std::size_t>(letter - 'A')] = static_cast<std::uint16_t>(publisher);
    }
    return by_letter;
}();

/// The publisher of a participant, by its letter (OPRA Participant ID); 0: none is known.
[[nodiscard]] constexpr std::uint16_t publisher_of(char participant) {
    return participant >= 'A' && participant <= 'Z'
               ? publishers[static_cast<std::size_t>(participant - 'A')]
               : std::uint16_t{0};
}

}  // namespace pinstrike::feed::dbn
