// path: hot
//
// The exchange of the state of a book's series with other instances: the rings to the thread that
// talks to peers, the place that each line has reached, and the latest messages.
#pragma once

#include "actors/book/book_entries.h"
#include "actors/book/book_entry.h"
#include "actors/book/transfer/journal.h"
#include "actors/book/transfer/line_places.h"
#include "actors/core/actor.h"
#include "actors/core/state_record.h"
#include "feed/event/event.h"

#include <cstddef>
#include <cstdint>

namespace pinstrike::actors {

struct BookTransferConfig {
    bool takes = false;  ///< requests a peer's state at the start; else it only gives
    std::size_t journal_messages = Journal::capacity_default;
};

class BookTransfer {
  public:
    /// `entries` must outlive the object.
    BookTransfer(const BookTransferConfig& config, StateRings rings, BookEntries& entries);

    [[nodiscard]] static std::size_t memory_bytes(const BookTransferConfig& config) {
        return StateRings::bytes() + LinePlaces::bytes() +
               (config.takes ? Journal::bytes_for(config.journal_messages) : 0);
    }

    void prefault();

    /// Called before a batch is applied to the entries.
    void note(EventBatch batch);

    /// Takes and gives a small part of the state. Returns how much was done.
    std::size_t step();

    /// Called about every millisecond.
    void on_timer();

  private:
    void remember(const feed::Event& event);
    void join_forced(std::uint16_t number);
    void pass_on_loss(const feed::Event& event);
    [[nodiscard]] StateRecord* claim(StateRecord::Kind kind, std::uint16_t line);
    std::size_t read();
    [[nodiscard]] bool obey(const StateRecord& record);
    [[nodiscard]] bool load_series(const StateRecord& record);
    [[nodiscard]] bool load_earlier(const StateRecord& record);
    void load_loss(const StateRecord& record);
    [[nodiscard]] bool join(const StateRecord& record);
    [[nodiscard]] StateVerdict judge(const StateRecord& record) const;
    [[nodiscard]] StateVerdict load_state(const StateRecord& record);
    [[nodiscard]] bool heard_lately(const BookEntry& entry) const;
    void adopt(BookEntry& entry, const StateRecord& record);
    void replay(const StateRecord& record);
    void keep_newer(BookSide& side, BookSide own, const BookEntry& entry,
                    const CoveredPlace& place) const;
    void note_forced(const StateRecord& record);
    [[nodiscard]] bool has_state(const BookEntry& entry) const;
    std::size_t walk();
    std::size_t walk_lines();
    void give(BookEntry& entry, StateRecord& record);

    BookEntries& entries_;
    StateRings rings_;
    LinePlaces places_;
    Journal journal_;
    bool takes_;                 ///< false once no more state will come
    bool walking_ = false;       ///< state is being given to a peer
    std::size_t next_line_ = 0;  ///< next line to give a place of; before all series
    unsigned lingers_ = 0;       ///< timers since the walk reached the end of the table
};

}  // namespace pinstrike::actors
