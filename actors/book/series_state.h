// path: hot
//
// The state of a series as a reader within the process gets it.
#pragma once

#include "actors/publish/pinstrike.h"
#include "feed/event/event.h"
#include "feed/event/series_key.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace pinstrike::actors {

/// A price as the exchange sends it: `value` / 10^decimals(code) (OPRA Denominator Code).
struct Price {
    std::int32_t value = 0;
    char code = 'I';

    /// The price in units of 1e-8, in which prices of different codes compare.
    [[nodiscard]] std::int64_t e8() const {
        constexpr std::array<std::int64_t, 9> powers{
            100'000'000, 10'000'000, 1'000'000, 100'000, 10'000, 1'000, 100, 10, 1};
        const unsigned places = feed::decimals(code);
        return value * powers[places <= 8 ? places : 8];
    }
};

/// A side is `unknown` until a quote states it, which differs from a side without a best quote. It
/// is `stale` from a gap on the series' line until a later quote states it.
enum class SideState : std::uint8_t {
    unknown = PINSTRIKE_SIDE_UNKNOWN,
    fresh = PINSTRIKE_SIDE_FRESH,
    stale = PINSTRIKE_SIDE_STALE
};

constexpr std::string_view name_of(SideState state) {
    return state == SideState::unknown ? "unknown" : state == SideState::fresh ? "fresh" : "stale";
}

struct BestQuote {
    char participant = ' ';
    Price price;
    std::uint32_t size = 0;
};

struct LastTrade {
    char participant = ' ';
    Price price;
    std::uint32_t size = 0;
    char type = ' ';
};

struct SeriesState {
    feed::SeriesKey key;
    std::uint16_t line = 0;          ///< line of the series' latest message
    std::optional<BestQuote> bid;    ///< nullopt and fresh: there is no best bid
    std::optional<BestQuote> offer;  ///< likewise
    SideState bid_state = SideState::unknown;
    SideState offer_state = SideState::unknown;
    std::optional<Price> open;
    std::optional<Price> high;
    std::optional<Price> low;
    std::optional<LastTrade> last;
    std::uint64_t volume = 0;  ///< contracts
    std::uint64_t trades = 0;  ///< reports other than cancels
    std::uint64_t quotes = 0;  ///< quote messages
    std::optional<std::uint32_t> open_interest;
};

}  // namespace pinstrike::actors
