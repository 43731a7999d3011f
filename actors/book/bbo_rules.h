// path: hot
//
// What a quote's indicator does to the best bid and offer (spec c.5). OPRA says what is best; the
// quote's type, its prices and those of others do not matter here.
#pragma once

#include "actors/book/book_entry.h"
#include "feed/event.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#ifdef __AVX2__
#include <immintrin.h>
#endif

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

/// Which bits of both sides a quote without an appendage keeps, and which it takes from its own
/// words: by indicator, bid before offer, each as {price, size, sequence, said}.
struct alignas(64) SidesMask {
    std::array<std::uint32_t, 8> keep;
    std::array<std::uint32_t, 8> take;
};

constexpr std::array<SidesMask, 17> make_sides_masks() {
    constexpr std::uint32_t all = ~std::uint32_t{0};
    constexpr std::array bids{SideEffect::none, SideEffect::this_quote, SideEffect::no_best,
                              SideEffect::none};
    constexpr std::array offers{SideEffect::none, SideEffect::this_quote, SideEffect::none,
                                SideEffect::no_best};
    std::array<SidesMask, 17> masks{};
    for (std::size_t i = 0; i < masks.size(); ++i) {
        for (std::size_t side = 0; side < 2; ++side) {
            // The last row is for what is no indicator: it changes nothing.
            const SideEffect effect = i == 16     ? SideEffect::none
                                      : side == 0 ? bids[i / 4]
                                                  : offers[i % 4];
            const bool kept = effect == SideEffect::none;
            const bool own = effect == SideEffect::this_quote;
            for (std::size_t word = 0; word < 4; ++word) {
                masks[i].keep[side * 4 + word] = kept ? all : 0;
                masks[i].take[side * 4 + word] = own ? all : 0;
            }
            if (!kept && !own) {  // no best: stated all the same
                masks[i].take[side * 4 + 2] = all;
                masks[i].take[side * 4 + 3] = std::uint32_t{side_known} << BookSide::mark_shift;
            }
        }
    }
    return masks;
}

inline constexpr std::array<SidesMask, 17> sides_masks = make_sides_masks();

#ifdef __AVX2__
/// A quote in order that brings no appendage: both sides at once, as one vector, without a branch.
inline void state_bare_quote(BookEntry& entry, const feed::Event& event) {
    static_assert(offsetof(BookEntry, offer) == offsetof(BookEntry, bid) + sizeof(BookSide));
    static_assert(offsetof(feed::Quote, offer) == offsetof(feed::Quote, bid) + 8);
    const feed::Header& header = event.header;
    const auto letter = static_cast<unsigned>(static_cast<unsigned char>(header.indicator)) - 'A';
    const SidesMask& mask = sides_masks[std::min(letter, 16U)];
    const Statement said = statement_of(0, 0, header.participant, header.code);
    const std::uint64_t words =
        header.sequence |
        std::uint64_t{said.said | std::uint32_t{side_known} << BookSide::mark_shift} << 32;
    __m128i prices;  // bid, bid size, offer, offer size
    std::memcpy(&prices, &event.body.quote.bid, sizeof prices);
    __m256i keep;
    __m256i take;
    __m256i sides;
    std::memcpy(&keep, mask.keep.data(), sizeof keep);
    std::memcpy(&take, mask.take.data(), sizeof take);
    std::memcpy(&sides, &entry.bid, sizeof sides);
    const __m256i apart = _mm256_permute4x64_epi64(_mm256_castsi128_si256(prices), 0b01'01'00'00);
    const __m256i own =
        _mm256_blend_epi32(apart, _mm256_set1_epi64x(static_cast<long long>(words)), 0b1100'1100);
    sides = _mm256_or_si256(_mm256_and_si256(sides, keep), _mm256_and_si256(own, take));
    std::memcpy(static_cast<void*>(&entry.bid), &sides, sizeof sides);
}
#endif

/// A quote in order: both sides as its indicator says.
inline void state_quote(BookEntry& entry, const feed::Event& event) {
#ifdef __AVX2__
    if (event.header.records == 1) [[likely]] {
        return state_bare_quote(entry, event);
    }
#endif
    const QuoteStatements says(event);
    const std::uint32_t sequence = event.header.sequence;
    state_side(entry.bid, says.effect.bid, says.bid, says.best_bid, sequence, side_known);
    state_side(entry.offer, says.effect.offer, says.offer, says.best_offer, sequence, side_known);
}

}  // namespace pinstrike::actors
