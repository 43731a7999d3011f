// path: cold
//
// The interfaces between a peer connection and this instance's books: the source of the state that
// is sent to a peer, and the receiver of the state that a peer sends.
#pragma once

#include "actors/core/state_record.h"
#include "actors/peer/frames.h"

#include <cstdint>
#include <optional>

namespace pinstrike::actors::peer {

/// The source of the state of every series. It serves one peer at a time.
class StateGiver {
  public:
    enum class Next : std::uint8_t { record, nothing_yet, end };

    virtual ~StateGiver() = default;
    /// Starts a walk over all series. Returns the reason if the walk cannot start.
    [[nodiscard]] virtual std::optional<PeerRefusal> begin() = 0;
    /// May be called after begin(), until it has returned `end`.
    [[nodiscard]] virtual Next next(StateRecord& into) = 0;
    /// Called when the peer has disconnected or has received everything. Drops the remaining
    /// records.
    virtual void leave() = 0;
};

/// The result of a request for state.
enum class StateOutcome : std::uint8_t {
    whole,     ///< the peer has sent all its state
    broken,    ///< the peer refused, or the connection ended
    has_none,  ///< the peer keeps no state, or has just started too
};

/// Receives the answer to a state request. Only one request is open at a time.
class StateTaker {
  public:
    virtual ~StateTaker() = default;
    /// Called with a record of kind series, lost or place.
    virtual void record(const StateRecord& record) = 0;
    /// Called instead of record() for a series with values that no book can have.
    virtual void impossible() = 0;
    /// Called once, after the last record.
    virtual void ended(StateOutcome outcome) = 0;
};

struct StateEnds {
    StateGiver* giver = nullptr;  ///< null: no state is sent
    StateTaker* taker = nullptr;  ///< null: no state is requested
};

}  // namespace pinstrike::actors::peer
