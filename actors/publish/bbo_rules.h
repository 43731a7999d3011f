// path: hot
//
// Applies a quote's indicator to the best bid and offer (OPRA BBO Indicator). OPRA determines the
// best quotes, so the quote's type, its prices and the prices of other participants do not matter
// here. The book and the readers of its stream apply quotes by the same functions. Their types of
// series have the members `bid` and, right behind it, `offer`.
#pragma once

#include "actors/publish/pinstrike.h"
#include "actors/publish/side_rules.h"
#include "actors/publish/stamp.h"
#include "config/hooks.h"
#include "feed/event/best_effect.h"
#include "feed/event/event.h"

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace pinstrike::actors {

/// The effect of a quote. An effect that needs an appendage changes nothing if there is none.
constexpr feed::IndicatorEffect quote_effect(char indicator, bool appended) {
    const feed::IndicatorEffect effect = feed::effect_of(indicator);
    const auto possible = [appended](feed::BestEffect side) {
        return side == feed::BestEffect::appendage && !appended ? feed::BestEffect::no_change
                                                                : side;
    };
    return {possible(effect.bid), possible(effect.offer)};
}

inline feed::IndicatorEffect quote_effect(const feed::Header& header) {
    return quote_effect(header.indicator, header.records > 1);
}

/// Masks for the bits of both sides that a quote keeps, that it takes from its own words, and that
/// it takes from the words of its appendage. The words are the bid's before the offer's, each side
/// as {price, size, sequence, said}.
struct alignas(32) SidesMask {
    std::array<std::uint32_t, 8> keep;
    std::array<std::uint32_t, 8> own;
    std::array<std::uint32_t, 8> appendage;
};

constexpr SidesMask sides_mask_of(const feed::IndicatorEffect& effect) {
    using feed::BestEffect;
    constexpr std::uint32_t all = ~std::uint32_t{0};
    SidesMask mask{};
    for (std::size_t side = 0; side < 2; ++side) {
        const BestEffect on_side = side == 0 ? effect.bid : effect.offer;
        for (std::size_t word = side * 4; word < side * 4 + 4; ++word) {
            mask.keep[word] = on_side == BestEffect::no_change ? all : 0;
            mask.own[word] = on_side == BestEffect::this_quote ? all : 0;
            mask.appendage[word] = on_side == BestEffect::appendage ? all : 0;
        }
        if (on_side == BestEffect::none) {  // the side is known to be empty
            mask.own[side * 4 + 2] = all;
            mask.own[side * 4 + 3] = std::uint32_t{side_known} << mark_shift;
        }
    }
    return mask;
}

/// The masks by indicator, for quotes without an appendage (0) and with one (1). A byte that is no
/// indicator changes nothing.
constexpr std::array<std::array<SidesMask, 256>, 2> make_sides_masks() {
    std::array<std::array<SidesMask, 256>, 2> masks{};
    for (std::size_t appended = 0; appended < masks.size(); ++appended) {
        for (std::size_t i = 0; i < 256; ++i) {
            masks[appended][i] = sides_mask_of(quote_effect(static_cast<char>(i), appended != 0));
        }
    }
    return masks;
}

inline constexpr std::array<std::array<SidesMask, 256>, 2> sides_masks = make_sides_masks();

/// Loads eight words, the bid's before the offer's.
inline __m256i load_sides(const void* words) {
    __m256i loaded;
    std::memcpy(&loaded, words, sizeof loaded);
    return loaded;
}

/// Writes both sides with one store, so that a load of both sides right after it need not wait.
template <class Series>
inline void store_sides(Series& series, __m256i sides) {
    static_assert(offsetof(Series, offer) == offsetof(Series, bid) + sizeof(pinstrike_side));
    std::memcpy(static_cast<void*>(&series.bid), &sides, sizeof sides);
}

/// Marks an entry as being written by a quote. Readers in other processes accept their copy of an
/// entry only if its stamp was the same, and without this mark, before and after they copied.
/// Order: the release fence makes the mark visible before the sides; end_quote() makes the sides
/// visible before the new stamp.
inline void begin_quote(pinstrike_entry& entry, std::uint64_t stamp) {
    std::atomic_ref<std::uint64_t>{entry.stamp}.store(stamp | PINSTRIKE_STAMP_WRITING,
                                                      std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    RING_HOOK("book:writing");
}

inline void end_quote(pinstrike_entry& entry, std::uint64_t stamp) {
    RING_HOOK("book:written");
    std::atomic_ref<std::uint64_t>{entry.stamp}.store(stamp, std::memory_order_release);
}

/// The upper two words of a side that a quote states: sequence, participant, code and marks.
inline std::uint64_t upper_words(std::uint32_t sequence, std::uint32_t participant_and_code) {
    constexpr std::uint32_t marks = std::uint32_t{side_known | side_present} << mark_shift;
    return sequence | std::uint64_t{participant_and_code | marks} << 32;
}

/// Both sides as the quote itself states them.
inline __m256i own_sides(const feed::Event& event) {
    static_assert(offsetof(feed::Quote, offer) == offsetof(feed::Quote, bid) + 8);
    const feed::Header& header = event.header;
    const auto participant = static_cast<unsigned char>(header.participant);
    const auto code = static_cast<unsigned char>(header.code);
    __m128i prices;  // bid, bid size, offer, offer size
    std::memcpy(&prices, &event.body.quote.bid, sizeof prices);
    const __m256i apart = _mm256_permute4x64_epi64(_mm256_castsi128_si256(prices), 0b01'01'00'00);
    const std::uint64_t upper =
        upper_words(header.sequence, participant | std::uint32_t{code} << 8);
    return _mm256_blend_epi32(apart, _mm256_set1_epi64x(static_cast<long long>(upper)),
                              0b1100'1100);
}

/// Both sides as the quote's appendage states them: price, size, and the lower half of the third
/// word.
inline __m256i appended_sides(const feed::Event& event) {
    static_assert(sizeof(feed::Best) == 12 && offsetof(feed::Best, participant) == 8);
    const auto& best = feed::rest_of<feed::QuoteBest>(event);
    __m128i bid;
    __m128i offer;
    std::memcpy(&bid, &best.bid, sizeof bid);
    std::memcpy(&offer, &best.offer, sizeof offer);
    const __m256i stated = _mm256_shuffle_epi32(
        _mm256_inserti128_si256(_mm256_castsi128_si256(bid), offer, 1), 0b10'10'01'00);
    const __m256i said = _mm256_set_epi32(0xFFFF, 0, -1, -1, 0xFFFF, 0, -1, -1);
    const auto upper = static_cast<long long>(upper_words(event.header.sequence, 0));
    return _mm256_or_si256(_mm256_and_si256(stated, said), _mm256_set_epi64x(upper, 0, upper, 0));
}

/// Applies a quote that came in order: sets both sides at once according to its indicator, without
/// a branch on the indicator.
template <class Series>
inline void state_quote(Series& series, const feed::Event& event) {
    const auto indicator = static_cast<unsigned char>(event.header.indicator);
    const auto stated = [&series, &event](const SidesMask& mask) {
        return _mm256_or_si256(
            _mm256_and_si256(load_sides(&series.bid), load_sides(mask.keep.data())),
            _mm256_and_si256(own_sides(event), load_sides(mask.own.data())));
    };
    __m256i sides;
    if (event.header.records == 1) [[likely]] {
        sides = stated(sides_masks[0][indicator]);
    } else {
        const SidesMask& mask = sides_masks[1][indicator];
        sides = _mm256_or_si256(stated(mask), _mm256_and_si256(appended_sides(event),
                                                               load_sides(mask.appendage.data())));
    }
    store_sides(series, sides);
}

/// Applies a quote that came late: sets the sides whose state is older than the quote. They stay
/// stale while numbers after it are missing.
template <class Series>
void state_late_quote(Series& series, const feed::Event& event) {
    Series stated = series;
    state_quote(stated, event);
    const feed::IndicatorEffect effect = quote_effect(event.header);
    const auto yield = [&event](pinstrike_side& side, const pinstrike_side& to,
                                feed::BestEffect on_side) {
        const bool older = !is(side, side_known) || is(side, side_elsewhere) ||
                           late_after(event.header.sequence, side.sequence);
        if (on_side != feed::BestEffect::no_change && older) {
            side = to;
            raise(side, side_late);
        }
    };
    yield(series.bid, stated.bid, effect.bid);
    yield(series.offer, stated.offer, effect.offer);
}

}  // namespace pinstrike::actors
