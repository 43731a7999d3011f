// path: hot
//
// What a book has beside its tables where state goes from one instance to another: the rings to
// the thread that talks to peers, how far each line has come, and the latest messages.
#pragma once

#include "actors/book/transfer/journal.h"
#include "actors/book/transfer/line_places.h"
#include "actors/book/transfer/state_record.h"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace pinstrike::actors {

struct BookTransferConfig {
    bool takes = false;  ///< asks a peer at the start; else it only gives
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
    bool takes;                 ///< until told that nothing more will come
    bool walking = false;       ///< state is being given
    std::size_t next_line = 0;  ///< whose place is given next; all before the first series
    std::size_t next_slot = 0;
    unsigned lingers = 0;  ///< timers since the walk came to the table's end
};

}  // namespace pinstrike::actors
