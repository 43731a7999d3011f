// path: cold
//
// This instance's series, as the thread that talks to peers has them: the far ends of the roads to
// the books. It gives, or it takes; while it takes, it has nothing that is whole to give.
#pragma once

#include "actors/book/transfer/state_record.h"
#include "actors/peer/state_ends.h"
#include "actors/poller/sharding.h"

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

namespace pinstrike::actors::peer {

class StateDesk final : public StateGiver {
  public:
    /// Of each core, in their order; nothing: it keeps no book.
    StateDesk(Sharding sharding, std::vector<std::optional<StateRoads>> roads);

    [[nodiscard]] std::optional<PeerRefusal> begin() override;
    [[nodiscard]] Next next(StateRecord& into) override;
    void leave() override;

    /// From the start until told otherwise.
    void set_taking(bool taking) { taking_ = taking; }

    /// To the book that keeps the series; a loss or a place to all of them. False: none keeps it.
    bool post(const StateRecord& record);

    /// To every book. How many there are.
    std::size_t post_to_all(StateRecord::Kind kind);

    /// Posted and not yet on its road.
    [[nodiscard]] std::size_t waiting() const;

    /// What the books answer to what was posted. Only while taking.
    [[nodiscard]] bool answer(StateRecord& into);

    /// How much was done.
    std::size_t step();

  private:
    struct Desk {
        std::optional<StateRoads> roads;
        std::deque<StateRecord> posted;
        bool at_end = true;  ///< of its walk
    };

    static void post(Desk& desk, const StateRecord& record);
    [[nodiscard]] static bool read(Desk& desk, StateRecord& into);
    [[nodiscard]] bool at_end() const;
    [[nodiscard]] std::uint16_t books() const;

    Sharding sharding_;
    std::vector<Desk> desks_;
    std::size_t turn_ = 0;
    bool taking_ = false;
    bool given_ = false;  ///< to somebody who has not left
};

}  // namespace pinstrike::actors::peer
