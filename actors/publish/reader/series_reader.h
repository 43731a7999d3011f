// path: hot
//
// Reads one series, one line, or the position of a core's stream, while the core writes them.
//
// A series is read in this order: the version of its group, its slot, the stamp of the entry, the
// entry, its trades, the version of its line, the line. Then the same stamp and versions must still
// be there, otherwise the read is repeated. So all parts are of one moment, that of the last check.
#pragma once

#include "actors/publish/reader/mapping.h"
#include "actors/publish/reader/shared_words.h"
#include "feed/event/series_key.h"

#include <cstddef>
#include <cstdint>

namespace pinstrike::reader {

/// What is stored of a series, at one moment.
struct SeriesParts {
    pinstrike_entry entry;
    pinstrike_trades trades;  ///< zero: the series has none
    pinstrike_line line;      ///< of the entry
    std::uint32_t id = 0;
};

enum class ReadResult : std::uint8_t {
    read,
    absent,      ///< the table has no such series
    unreadable,  ///< it was being written all the time
};

[[nodiscard]] ReadResult read_series(const CoreView& core, const feed::SeriesKey& key,
                                     Patience& patience, SeriesParts& parts);

/// False: the line was being written all the time.
[[nodiscard]] bool read_line(const CoreView& core, std::uint16_t number, Patience& patience,
                             pinstrike_line& line);

/// A published position of a core's stream, and the stamp of the last event before it.
struct Tail {
    std::uint64_t position = 0;
    std::uint64_t stamp = 0;
    std::uint64_t ms = 0;  ///< from base_ms to the stamp
    std::uint64_t base_ms = 0;
    std::uint64_t changes = 0;  ///< of the state without an event

    /// The time of a stamp near this one, since the Unix epoch; 0: no event had a time yet.
    [[nodiscard]] std::int64_t time_ns_of(std::uint64_t of) const {
        constexpr std::uint64_t ns_of_ms = 1'000'000;
        const auto from_tail = static_cast<std::int32_t>(
            static_cast<std::uint32_t>(of / PINSTRIKE_STAMP_MS) - static_cast<std::uint32_t>(ms));
        const std::uint64_t since_base = ms + static_cast<std::uint64_t>(std::int64_t{from_tail});
        return base_ms == 0 ? 0 : static_cast<std::int64_t>((base_ms + since_base) * ns_of_ms);
    }
};

/// False: it was being written all the time.
[[nodiscard]] bool read_tail(const CoreView& core, Patience& patience, Tail& tail);

/// Prefetches what read_series() reads, if the series is in its first slot.
void prefetch_series(const CoreView& core, std::uint64_t hash, std::uint32_t index);

/// Prefetches the second slot if the series is not in its first one, which has arrived.
void prefetch_second(const CoreView& core, const feed::SeriesKey& key, std::uint64_t hash);

}  // namespace pinstrike::reader
