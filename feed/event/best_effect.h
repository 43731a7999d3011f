// path: hot
//
// What a quote's indicator (Header::indicator) says of the best bid and offer. Events have OPRA's
// letters (OPRA BBO Indicator).
#pragma once

#include <array>
#include <cstdint>

namespace pinstrike::feed {

/// The effect of an indicator on the best bid or the best offer.
enum class BestEffect : std::uint8_t { no_change, this_quote, appendage, none };

/// The effects of an indicator on both sides; a space changes nothing.
struct IndicatorEffect {
    BestEffect bid;
    BestEffect offer;
};

[[nodiscard]] constexpr bool known_indicator(char indicator) {
    return indicator == ' ' || (indicator >= 'A' && indicator <= 'P');
}

/// The effect of an indicator; one that is not known changes nothing. The letters A to P fill a
/// grid row by row. Its rows are the bid (0 no change, 1 this quote, 2 none, 3 appendage), its
/// columns the offer (0 no change, 1 this quote, 2 appendage, 3 none).
[[nodiscard]] constexpr IndicatorEffect effect_of(char indicator) {
    constexpr std::array bids{BestEffect::no_change, BestEffect::this_quote, BestEffect::none,
                              BestEffect::appendage};
    constexpr std::array offers{BestEffect::no_change, BestEffect::this_quote,
                                BestEffect::appendage, BestEffect::none};
    if (indicator == ' ' || !known_indicator(indicator)) {
        return {BestEffect::no_change, BestEffect::no_change};
    }
    const auto cell = static_cast<unsigned>(indicator - 'A');
    return {bids[cell / 4], offers[cell % 4]};
}

}  // namespace pinstrike::feed
