// path: hot
//
// The part of a book that exchanges state with other instances: the rings to the thread that talks
// to peers, the place that each line has reached, and the latest messages.
#pragma once

#include "actors/book/transfer/journal.h"
#include "actors/book/transfer/line_places.h"
#include "actors/book/transfer/state_record.h"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace pinstrike::actors {

struct BookTransferConfig {
    bool takes = false;  ///< requests a peer's state at the start; else it only gives
    std::size_t journal_messages = Journal::capacity_default;
};

struct BookTransfer {
    BookTransfer(const BookTransferConfig& config, StateRings ends)
        : rings(std::move(ends)),
          journal(config.takes ? Journal(config.journal_messages) : Journal()),
          takes(config.takes) {}

    [[nodiscard]] static std::size_t memory_bytes(const BookTransferConfig& config) {
        return StateRings::bytes() + LinePlaces::bytes() +
               (config.takes ? Journal::bytes_for(config.journal_messages) : 0);
    }

    StateRings rings;
    LinePlaces places;
    Journal journal;
    bool takes;                 ///< false once no more state will come
    bool walking = false;       ///< state is being given to a peer
    std::size_t next_line = 0;  ///< next line to give a place of; before all series
    std::size_t next_slot = 0;
    unsigned lingers = 0;  ///< timers since the walk reached the end of the table
};

}  // namespace pinstrike::actors
