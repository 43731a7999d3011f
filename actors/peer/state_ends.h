// path: cold
//
// What a connection between peers knows of this instance's series: someone who gives their state,
// and someone who takes it.
#pragma once

#include "actors/book/transfer/state_record.h"
#include "actors/peer/frames.h"

#include <cstdint>
#include <optional>

namespace pinstrike::actors::peer {

/// Gives the state of every series, to one peer at a time.
class StateGiver {
  public:
    enum class Next : std::uint8_t { record, nothing_yet, end };

    virtual ~StateGiver() = default;
    /// Nothing: it begins. Else why not.
    [[nodiscard]] virtual std::optional<PeerRefusal> begin() = 0;
    /// After begin(); after the end nothing more comes.
    [[nodiscard]] virtual Next next(StateRecord& into) = 0;
    /// What is still to come goes to nobody.
    virtual void leave() = 0;
};

/// How a request for state ended.
enum class StateOutcome : std::uint8_t {
    whole,     ///< it was all that the peer has
    broken,    ///< the peer could not, or no longer
    has_none,  ///< the peer has no state to give: it was started just now as well
};

/// Takes what comes of one request at a time.
class StateTaker {
  public:
    virtual ~StateTaker() = default;
    /// Of kind series, lost or place.
    virtual void record(const StateRecord& record) = 0;
    /// Nothing more comes.
    virtual void ended(StateOutcome outcome) = 0;
};

struct StateEnds {
    StateGiver* giver = nullptr;  ///< null: nobody is given anything
    StateTaker* taker = nullptr;  ///< null: nobody is asked
};

}  // namespace pinstrike::actors::peer
