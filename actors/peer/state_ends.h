// path: cold
//
// The interfaces between a peer connection and this instance's books: the source of the series'
// state that is sent to a peer, and the receiver of the state that a peer sends.
#pragma once

#include "actors/book/transfer/state_record.h"
#include "actors/peer/frames.h"

#include <cstdint>
#include <optional>

namespace pinstrike::actors::peer {

/// The source of the state of every series, for one peer at a time.
class StateGiver {
  public:
    enum class Next : std::uint8_t { record, nothing_yet, end };

    virtual ~StateGiver() = default;
    /// Starts a walk over all series; returns the reason if it cannot start.
    [[nodiscard]] virtual std::optional<PeerRefusal> begin() = 0;
    /// Valid after begin(), until it has returned `end`.
    [[nodiscard]] virtual Next next(StateRecord& into) = 0;
    /// The peer has gone or has everything: the remaining records are dropped.
    virtual void leave() = 0;
};

/// How a request for state ended.
enum class StateOutcome : std::uint8_t {
    whole,     ///< the peer has sent all its state
    broken,    ///< the peer refused, or the connection ended
    has_none,  ///< the peer has no state to send: it does not keep any, or has just started too
};

/// Receives the answer to one state request at a time.
class StateTaker {
  public:
    virtual ~StateTaker() = default;
    /// A record of kind series, lost or place.
    virtual void record(const StateRecord& record) = 0;
    /// Called once, after the last record.
    virtual void ended(StateOutcome outcome) = 0;
};

struct StateEnds {
    StateGiver* giver = nullptr;  ///< null: no state is sent
    StateTaker* taker = nullptr;  ///< null: no state is requested
};

}  // namespace pinstrike::actors::peer
