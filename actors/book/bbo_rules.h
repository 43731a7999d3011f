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

/// What a message says of a side, in BookSide's words.
struct Statement {
    std::uint64_t value;
    std::uint32_t said;
};

inline Statement statement_of(std::int32_t price, std::uint32_t size, char participant, char code) {
    return {static_cast<std::uint32_t>(price) | std::uint64_t{size} << 32,
            static_cast<unsigned char>(participant) |
                std::uint32_t{static_cast<unsigned char>(code)} << 8 |
                std::uint32_t{side_present} << BookSide::mark_shift};
}

inline Statement statement_of(const feed::Best& best) {
    return statement_of(best.price, best.size, best.participant, best.code);
}

/// All ones where the effect is `wanted`, else zero.
inline std::uint64_t mask_of(SideEffect effect, SideEffect wanted) {
    return std::uint64_t{0} - std::uint64_t{effect == wanted};
}

/// States a side, by masks: which effect a quote has is as good as random, and a branch on it that
/// is missed costs more than all of this. `mark` is side_known and, for a late message, what goes
/// with it.
inline void state_side(BookSide& side, SideEffect effect, const Statement& own,
                       const Statement& appendage, std::uint32_t sequence, unsigned mark) {
    const std::uint64_t keep = mask_of(effect, SideEffect::none);
    const std::uint64_t by_own = mask_of(effect, SideEffect::this_quote);
    const std::uint64_t by_appendage = mask_of(effect, SideEffect::appendage);
    const auto blend = [=](auto before, auto from_own, auto from_appendage, auto base) {
        using Word = decltype(before);
        return static_cast<Word>((before & keep) | (from_own & by_own) |
                                 (from_appendage & by_appendage) | (base & ~keep));
    };
    side.value = blend(side.value, own.value, appendage.value, std::uint64_t{0});
    side.said =
        blend(side.said, own.said, appendage.said, std::uint32_t{mark} << BookSide::mark_shift);
    side.sequence = blend(side.sequence, 0U, 0U, sequence);
}

/// What a quote says of both sides, by its indicator.
struct QuoteStatements {
    explicit QuoteStatements(const feed::Event& event)
        : effect(quote_effect(event.header)),
          bid(statement_of(event.body.quote.bid, event.body.quote.bid_size,
                           event.header.participant, event.header.code)),
          offer(statement_of(event.body.quote.offer, event.body.quote.offer_size,
                             event.header.participant, event.header.code)) {
        // The second record is there only when the header says so.
        static constexpr feed::QuoteBest no_appendage{};
        const feed::QuoteBest& best =
            event.header.records > 1 ? feed::rest_of<feed::QuoteBest>(event) : no_appendage;
        best_bid = statement_of(best.bid);
        best_offer = statement_of(best.offer);
    }

    QuoteEffect effect;
    Statement bid;
    Statement offer;
    Statement best_bid;
    Statement best_offer;
};

/// A quote in order: both sides as its indicator says.
inline void state_quote(BookEntry& entry, const feed::Event& event) {
    const QuoteStatements says(event);
    const std::uint32_t sequence = event.header.sequence;
    state_side(entry.bid, says.effect.bid, says.bid, says.best_bid, sequence, side_known);
    state_side(entry.offer, says.effect.offer, says.offer, says.best_offer, sequence, side_known);
}

}  // namespace pinstrike::actors
