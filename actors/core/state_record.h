// path: hot
//
// The state of a series in transfer between instances: the records in the rings between a core and
// the thread that talks to peers, in both directions, and the content of the peer protocol
// (actors/peer/state_frames.h). On the network the state has an encoding of its own.
#pragma once

#include "actors/core/series_fields.h"
#include "actors/threads/ring.h"
#include "feed/event/series_key.h"

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace pinstrike::actors {

/// The place that a core has reached on a line: every message up to and including `sequence`,
/// counted from the reset that began the numbering (or that flushed quotes within it). The reset's
/// own number and time identify it, because they are the same for all who received it. Both are 0
/// if no reset was heard.
struct CoveredPlace {
    std::int64_t reset_ts_ns = 0;
    std::uint32_t reset_sequence = 0;
    std::uint32_t sequence = 0;
    std::int64_t ts_ns = 0;  ///< exchange time of the latest message up to `sequence`

    friend bool operator==(const CoveredPlace&, const CoveredPlace&) = default;
};

/// The result for a series that came from a peer.
enum class StateVerdict : std::uint8_t {
    taken,
    unheard,      ///< the line has no message yet, so the join cannot be checked
    ahead,        ///< it covers messages that have not arrived here yet
    behind,       ///< messages may be missing between it and the journal's first one
    other_reset,  ///< there is a reset between the two places
    moved,        ///< the series is on another line here
    no_room,      ///< the book is full
    repeated,     ///< of kind earlier: state of the time before was taken already
};

struct alignas(64) StateRecord {
    enum class Kind : std::uint8_t {
        series,    ///< both ways: the state of one series
        earlier,   ///< to a core: the state of one series before the feed's start, as recorded
        lost,      ///< both ways: messages of `line` up to place.sequence were lost, known late
        place,     ///< both ways: the place of a core on `line` before it gave any series
        unplaced,  ///< to a core: not all cores of the peer gave a place on `line`
        give,      ///< to a core: give the state of all series
        end,       ///< from a core: all state was given
        round,     ///< to a core: send this record back after all earlier answers
        finish,    ///< to a core: no more state comes
        partial,   ///< to a core: some series of `line` are unknown until its next start of day
        refused,   ///< from a core: the `verdict` on a series of `line`, also `taken`; of kind
                   ///< earlier with the whole record
        apart,     ///< from a core: its journal does not join a place of `line`, see `verdict`
    };

    Kind kind = Kind::series;
    StateVerdict verdict = StateVerdict::taken;
    bool has_trades = false;
    bool forced = false;  ///< take it although its line has no message yet
    std::uint32_t quotes = 0;
    std::uint16_t line = 0;
    std::uint16_t books = 0;  ///< of kind place: number of the giver's cores that send one
    /// From a snapshot of this feed's own recording: no message between its place and the first one
    /// that the core hears was received.
    bool recorded = false;
    CoveredPlace place;
    feed::SeriesKey key;
    BookSide bid{};    ///< resolved: known, stale, present, elsewhere; never late
    BookSide offer{};  ///< likewise
    TradeRecord trades{};
};

static_assert(sizeof(StateRecord) == 192 && std::is_trivially_copyable_v<StateRecord>);

/// One end of the two rings between a core and the recovery thread. ring.h says why their memory
/// orders are enough. If a ring is full, its producer continues in a later step.
struct StateRings {
    static constexpr std::size_t slots_wanted = 2048;

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
