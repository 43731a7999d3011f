// path: hot
//
// State of series on its way between instances: what the rings between a core and the thread that
// talks to peers carry, in both directions, and what the protocol says of a series
// (actors/peer/state_frames.h). The wire has its own form of it.
#pragma once

#include "actors/book/book_entry.h"
#include "actors/threads/ring.h"
#include "feed/event/series_key.h"

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace pinstrike::actors {

/// How far a core had come on a line: every message up to and with `sequence`, counted from the
/// reset that began the numbering (or flushed quotes within it). The reset is known by its own
/// number and time, which are the same for all who heard it; both 0: none was heard.
struct CoveredPlace {
    std::int64_t reset_ts_ns = 0;
    std::uint32_t reset_sequence = 0;
    std::uint32_t sequence = 0;

    friend bool operator==(const CoveredPlace&, const CoveredPlace&) = default;
};

/// What became of a series that came from a peer.
enum class StateVerdict : std::uint8_t {
    taken,
    unheard,      ///< nothing came on its line yet: nobody can say whether the two join
    ahead,        ///< it covers messages that have not come here yet
    behind,       ///< it ends before what is remembered here begins: a hole lies between
    other_reset,  ///< a reset lies between the two
    moved,        ///< the series comes on another line here
    no_room,      ///< the book is full
};

struct alignas(64) StateRecord {
    enum class Kind : std::uint8_t {
        series,   ///< either way: the state of one series
        lost,     ///< either way: of `line`, place.sequence was the last number of a loss told late
        place,    ///< either way: how far a core had come on `line` before it gave any series
        give,     ///< to a core: walk the table
        end,      ///< from a core: the walk is over
        round,    ///< to a core: answer in turn; and the answer
        finish,   ///< to a core: nothing more will be taken
        refused,  ///< from a core: a series of `line` was not taken, `verdict`
        apart,    ///< from a core: what it remembers of `line` does not join a place, `verdict`
    };

    Kind kind = Kind::series;
    StateVerdict verdict = StateVerdict::taken;
    bool has_trades = false;
    bool forced = false;  ///< to be taken though nothing came on its line yet
    std::uint32_t quotes = 0;
    std::uint16_t line = 0;
    std::uint16_t books = 0;  ///< of kind place: how many cores of the giver state theirs
    CoveredPlace place;
    feed::SeriesKey key;
    BookSide bid{};    ///< marks known, stale, present, elsewhere: resolved, never late
    BookSide offer{};  ///< likewise
    TradeRecord trades{};
};

static_assert(sizeof(StateRecord) == 192 && std::is_trivially_copyable_v<StateRecord>);

/// One end of the two rings between a core and the recovery thread. ring.h says why their memory
/// orders are enough. If a ring is full, its producer continues in a later step.
struct StateRings {
    static constexpr std::size_t slots_wanted = 8192;

    Producer<StateRecord> out;
    Consumer<StateRecord> in;

    [[nodiscard]] static std::pair<StateRings, StateRings> make() {
        const std::size_t slots = Ring<StateRecord>::slots_for(slots_wanted);
        auto there = Ring<StateRecord>::make(slots);
        auto back = Ring<StateRecord>::make(slots);
        return {StateRings{std::move(there.producer), std::move(back.consumer)},
                StateRings{std::move(back.producer), std::move(there.consumer)}};
    }

    [[nodiscard]] static std::size_t bytes() {
        return 2 * Ring<StateRecord>::slots_for(slots_wanted) * sizeof(StateRecord);
    }
};

}  // namespace pinstrike::actors
