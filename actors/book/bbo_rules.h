// path: hot
//
// What a quote's indicator does to the best bid and offer (spec c.5). OPRA says what is best; the
// quote's type, its prices and those of others do not matter here.
#pragma once

#include "actors/book/book_entry.h"
#include "feed/event.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace pinstrike::actors {

enum class SideEffect : std::uint8_t { none, this_quote, appendage, no_best };

struct QuoteEffect {
    SideEffect bid = SideEffect::none;
    SideEffect offer = SideEffect::none;
};

/// By indicator, for quotes that bring an appendage and for those that bring none: what would need
/// one that is not there changes nothing.
constexpr std::array<std::array<QuoteEffect, 256>, 2> make_quote_effects() {
    constexpr std::array bids{SideEffect::none, SideEffect::this_quote, SideEffect::no_best,
                              SideEffect::appendage};
    constexpr std::array offers{SideEffect::none, SideEffect::this_quote, SideEffect::appendage,
                                SideEffect::no_best};
    std::array<std::array<QuoteEffect, 256>, 2> table{};
    for (std::size_t i = 0; i < 16; ++i) {
        const QuoteEffect whole{bids[i / 4], offers[i % 4]};
        QuoteEffect bare = whole;
        if (bare.bid == SideEffect::appendage) {
            bare.bid = SideEffect::none;
        }
        if (bare.offer == SideEffect::appendage) {
            bare.offer = SideEffect::none;
        }
        table[0]['A' + i] = bare;
        table[1]['A' + i] = whole;
    }
    return table;
}

inline constexpr std::array<std::array<QuoteEffect, 256>, 2> quote_effects = make_quote_effects();

inline QuoteEffect quote_effect(const feed::Header& header) {
    return quote_effects[header.records > 1 ? 1 : 0][static_cast<unsigned char>(header.indicator)];
}

/// States a side. `mark` is side_known and, for a late message, what goes with it.
inline void state_side(BookSide& side, SideEffect effect, const feed::Event& event,
                       std::int32_t price, std::uint32_t size, feed::Best feed::QuoteBest::*best,
                       std::uint8_t mark) {
    if (effect == SideEffect::none) {
        return;
    }
    BookSide stated{};
    stated.sequence = event.header.sequence;
    stated.mark = mark;
    if (effect == SideEffect::this_quote) {
        stated.price = price;
        stated.size = size;
        stated.participant = event.header.participant;
        stated.code = event.header.code;
        stated.mark = static_cast<std::uint8_t>(mark | side_present);
    } else if (effect == SideEffect::appendage) {
        const feed::Best& from = feed::rest_of<feed::QuoteBest>(event).*best;
        stated.price = from.price;
        stated.size = from.size;
        stated.participant = from.participant;
        stated.code = from.code;
        stated.mark = static_cast<std::uint8_t>(mark | side_present);
    }
    side = stated;
}

/// A quote in order: both sides as its indicator says.
inline void state_quote(BookEntry& entry, const feed::Event& event) {
    const QuoteEffect effect = quote_effect(event.header);
    const feed::Quote& quote = event.body.quote;
    state_side(entry.bid, effect.bid, event, quote.bid, quote.bid_size, &feed::QuoteBest::bid,
               side_known);
    state_side(entry.offer, effect.offer, event, quote.offer, quote.offer_size,
               &feed::QuoteBest::offer, side_known);
}

}  // namespace pinstrike::actors
