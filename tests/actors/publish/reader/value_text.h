// path: cold
//
// Values of a reader and states of the book as the same text.
#pragma once

#include "actors/book/series_state.h"
#include "actors/publish/pinstrike.h"

#include <optional>
#include <string>

namespace pinstrike::actors::test {

inline std::string text_of(const pinstrike_best& best) {
    return std::to_string(best.present) + ' ' + best.participant + ' ' +
           std::to_string(best.price) + ' ' + std::to_string(best.decimals) + ' ' +
           std::to_string(best.size) + ' ' + std::to_string(best.state);
}

/// The same of a side as the book gives it.
inline std::string text_of(const std::optional<BestQuote>& best, SideState state) {
    pinstrike_best out{};
    out.participant = ' ';
    out.state = static_cast<std::uint8_t>(state);
    if (best) {
        out.present = 1;
        out.participant = best->participant;
        out.price = best->price.value;
        out.decimals = static_cast<std::uint8_t>(feed::decimals(best->price.code));
        out.size = best->size;
    }
    return text_of(out);
}

inline std::string text_of(const pinstrike_price& price) {
    return price.present == 0 ? "-"
                              : std::to_string(price.value) + '/' + std::to_string(price.decimals);
}

inline std::string text_of(const std::optional<Price>& price) {
    return price ? std::to_string(price->value) + '/' + std::to_string(feed::decimals(price->code))
                 : "-";
}

inline std::string text_of(const pinstrike_value& value) {
    return text_of(value.bid) + " | " + text_of(value.offer) + " | " + text_of(value.open) + ' ' +
           text_of(value.high) + ' ' + text_of(value.low) + ' ' + text_of(value.last) + ' ' +
           (value.last.present != 0
                ? std::to_string(value.last_size) + value.last_type + value.last_participant
                : "-") +
           " | " + std::to_string(value.volume) + ' ' + std::to_string(value.trades) + ' ' +
           std::to_string(value.quotes) + ' ' +
           (value.has_open_interest != 0 ? std::to_string(value.open_interest) : "-") + ' ' +
           std::to_string(value.line);
}

inline std::string text_of(const SeriesState& state) {
    const std::optional<Price> last = state.last ? std::optional{state.last->price} : std::nullopt;
    return text_of(state.bid, state.bid_state) + " | " + text_of(state.offer, state.offer_state) +
           " | " + text_of(state.open) + ' ' + text_of(state.high) + ' ' + text_of(state.low) +
           ' ' + text_of(last) + ' ' +
           (state.last
                ? std::to_string(state.last->size) + state.last->type + state.last->participant
                : "-") +
           " | " + std::to_string(state.volume) + ' ' + std::to_string(state.trades) + ' ' +
           std::to_string(state.quotes) + ' ' +
           (state.open_interest ? std::to_string(*state.open_interest) : "-") + ' ' +
           std::to_string(state.line);
}

}  // namespace pinstrike::actors::test
