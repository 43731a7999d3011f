// path: cold
//
// The recovery thread's access to the state of this instance's series: the peer side of the rings
// to the books. It sends no state to a peer while it receives state, because the state of this
// instance is incomplete then.
#pragma once

#include "actors/core/state_record.h"
#include "actors/peer/state_ends.h"
#include "actors/poller/sharding.h"

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

namespace pinstrike::actors::peer {

class StateExchange final : public StateGiver {
  public:
    /// `rings` has one entry per core, in order. A core without a book has no rings.
    StateExchange(Sharding sharding, std::vector<std::optional<StateRings>> rings);

    [[nodiscard]] std::optional<PeerRefusal> begin() override;
    [[nodiscard]] Next next(StateRecord& into) override;
    void leave() override;

    /// While set, begin() refuses and answer() reads the books' answers.
    void set_taking(bool taking) { taking_ = taking; }

    enum class Posted : std::uint8_t { yes, no_book, full };

    /// Queues a record of a peer or a recording: a series for the book that keeps it, and a record
    /// of another kind for all books. If a queue is full, not all books get it.
    [[nodiscard]] Posted post(const StateRecord& record);

    /// Queues a record for every book, also if its queue is full. Returns the number of books.
    std::size_t post_to_all(StateRecord::Kind kind, std::uint16_t line = 0);

    /// Records that are not in the rings yet.
    [[nodiscard]] std::size_t queued() const;

    /// Reads the next answer of a book to a posted record. Returns false if there is none, or if no
    /// state is being received.
    [[nodiscard]] bool answer(StateRecord& into);

    /// A step of a task that reads answers reads at most so many.
    static constexpr std::size_t answers_each_step = 65536;

    /// Moves queued records to the rings. Returns the number of records that were moved or dropped.
    std::size_t step();

  private:
    struct Core {
        std::optional<StateRings> rings;
        std::deque<StateRecord> posted;
        bool at_end = true;  ///< the core's walk over the series has ended
    };

    [[nodiscard]] static Posted post(Core& core, const StateRecord& record);
    [[nodiscard]] static bool read(Core& core, StateRecord& into);
    [[nodiscard]] bool at_end() const;
    [[nodiscard]] std::uint16_t books() const;

    Sharding sharding_;
    std::vector<Core> cores_;
    std::size_t turn_ = 0;
    bool taking_ = false;
    bool given_ = false;  ///< a peer receives state; leave() ends this
};

}  // namespace pinstrike::actors::peer
