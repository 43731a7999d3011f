// path: cold
//
// The recovery thread's access to the state of this instance's series: the peer side of the rings
// to the books. It either sends state to a peer or receives it: while it receives, its own state is
// incomplete and is not sent.
#pragma once

#include "actors/book/transfer/state_record.h"
#include "actors/peer/state_ends.h"
#include "actors/poller/sharding.h"

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

namespace pinstrike::actors::peer {

class StateExchange final : public StateGiver {
  public:
    /// `rings`: one entry per core, in order; nothing for a core without a book.
    StateExchange(Sharding sharding, std::vector<std::optional<StateRings>> rings);

    [[nodiscard]] std::optional<PeerRefusal> begin() override;
    [[nodiscard]] Next next(StateRecord& into) override;
    void leave() override;

    /// While set, begin() refuses and answer() reads the books' answers.
    void set_taking(bool taking) { taking_ = taking; }

    /// Queues a series for the book that keeps it, and a record of another kind for all books.
    /// False: the core has no book, or its queue is full.
    bool post(const StateRecord& record);

    /// Queues a record for every book. Returns the number of books.
    std::size_t post_to_all(StateRecord::Kind kind);

    /// Records that are queued and not yet in a ring.
    [[nodiscard]] std::size_t waiting() const;

    /// Reads the next answer of a book to a posted record. False: none, or not receiving.
    [[nodiscard]] bool answer(StateRecord& into);

    /// Moves queued records to the rings. Returns how many records were moved or dropped.
    std::size_t step();

  private:
    struct Core {
        std::optional<StateRings> rings;
        std::deque<StateRecord> posted;
        bool at_end = true;  ///< its walk over the series has ended
    };

    static void post(Core& core, const StateRecord& record);
    [[nodiscard]] static bool read(Core& core, StateRecord& into);
    [[nodiscard]] bool at_end() const;
    [[nodiscard]] std::uint16_t books() const;

    Sharding sharding_;
    std::vector<Core> cores_;
    std::size_t turn_ = 0;
    bool taking_ = false;
    bool given_ = false;  ///< a peer is receiving state, until leave()
};

}  // namespace pinstrike::actors::peer
