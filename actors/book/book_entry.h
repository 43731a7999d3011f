// path: hot
//
// The entry of a series: one cache line that every quote touches, and a second one for trades and
// open interest, which only series with trades or open interest use. pinstrike.h has their layout,
// because programs of users may read them.
#pragma once

#include "actors/book/series_state.h"
#include "actors/core/series_fields.h"
#include "actors/publish/pinstrike.h"
#include "config/cache_line.h"
#include "feed/event/series_key.h"

#include <cstdint>

namespace pinstrike::actors {

inline bool is_empty(const feed::SeriesKey& key) {
    return key.name == 0;  // no series has an expiration letter of 0
}

inline Price price_of(const BookSide& side) {
    return {static_cast<std::int32_t>(side.value), price_code_of(side)};
}

/// The hot entry. An empty slot is all zeros. `quotes` stays below 2^32 for every series.
struct alignas(cache_line_bytes) BookEntry : pinstrike_entry {
    static constexpr unsigned announced_shift = 30;

    [[nodiscard]] feed::SeriesKey key() const { return {name, strike_e8}; }

    void set_key(const feed::SeriesKey& key) {
        name = key.name;
        strike_e8 = key.strike_e8;
    }

    /// Line of the latest message.
    [[nodiscard]] std::uint16_t line() const { return static_cast<std::uint16_t>(stamp); }

    /// Index of the series' records of trades and of the directory.
    [[nodiscard]] std::uint32_t index() const { return record & PINSTRIKE_INDEX; }

    /// Whether the record of trades is in use.
    [[nodiscard]] bool has_trades() const { return (record & PINSTRIKE_TRADES) != 0; }

    /// Starts of day until removal if no message comes; 0: unannounced.
    [[nodiscard]] unsigned announced() const { return record >> announced_shift; }

    void set_announced(unsigned starts) {
        record = (record & ~(3U << announced_shift)) | starts << announced_shift;
    }
};

static_assert(sizeof(BookEntry) == sizeof(pinstrike_entry));

/// Whether a message stated something of the series since the entry was created or forgotten: a
/// quote was counted, or trades or open interest have a record.
inline bool heard(const BookEntry& entry) {
    return entry.quotes != 0 || entry.has_trades();
}

}  // namespace pinstrike::actors
