// path: hot
//
// What the type of a trade report (Header::type) says of its series. Events have OPRA's letters
// (OPRA Trade types).
#pragma once

#include <array>
#include <cstdint>

namespace pinstrike::feed {

enum TradeEffect : std::uint8_t {
    effect_range = 1,       ///< high and low
    effect_last = 2,        ///< sets last
    effect_open_first = 4,  ///< sets open if there is none
    effect_open = 8,        ///< sets open
    effect_cancel = 16,     ///< subtracts its volume; does not count as a trade
    effect_cancel_last = 32,
    effect_cancel_open = 64,
    effect_cancel_all = 128,  ///< cancels the only report of the day
};

namespace detail {

constexpr std::array<std::uint8_t, 256> make_trade_effects() {
    std::array<std::uint8_t, 256> table{};
    for (std::uint8_t& effects : table) {
        effects = effect_range | effect_last | effect_open_first;  // any type not named here
    }
    table['H'] = effect_range | effect_last | effect_open;
    table['F'] = effect_range | effect_open;
    table['B'] = effect_range;
    table['u'] = table['v'] = 0;  // only volume
    table['A'] = effect_cancel;
    table['C'] = effect_cancel | effect_cancel_last;
    table['E'] = effect_cancel | effect_cancel_open;
    table['G'] = effect_cancel | effect_cancel_all;
    return table;
}

inline constexpr std::array<std::uint8_t, 256> trade_effects = make_trade_effects();

}  // namespace detail

/// The TradeEffect bits of a type.
[[nodiscard]] constexpr std::uint8_t trade_effects_of(char type) {
    return detail::trade_effects[static_cast<unsigned char>(type)];
}

}  // namespace pinstrike::feed
