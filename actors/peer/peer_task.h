// path: cold
//
// The peer work of the recovery thread (or of a simulation). It moves the first copies of blocks
// from the pollers' rings into the history, and runs the server and the state transfer. step() gets
// the wall time. A jump of the wall clock changes the age of blocks and connections by at most one
// second.
#pragma once

#include "actors/peer/peers.h"
#include "actors/peer/state_transfer.h"
#include "actors/poller/history_ring.h"
#include "actors/threads/step_free_clock.h"
#include "feed/recovery/history.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace pinstrike::actors::peer {

class PeerTask {
  public:
    /// If `history` is null, no blocks are kept. If `peers` is null, there are no peers.
    PeerTask(std::unique_ptr<feed::History> history, std::unique_ptr<Peers> peers);

    /// Must be called before the first step. `exchange` reads and writes the books' state. If
    /// `transfer` is null, no state is requested. Both must outlive the peers.
    void add_state(StateExchange* exchange, StateTransfer* transfer) {
        exchange_ = exchange;
        transfer_ = transfer;
    }

    /// Must be called before the first step.
    void add_history_ring(HistoryRingReader ring) { history_rings_.push_back(std::move(ring)); }

    /// Returns the number of processed items. If it is 0, the thread may sleep.
    std::size_t step(std::int64_t now_ns);

    /// Reads everything that the pollers wrote. Must be called after the pollers have ended, from
    /// the thread that called step() or from a thread that joined that thread.
    void finish();

    [[nodiscard]] feed::History* history() { return history_.get(); }

    [[nodiscard]] const feed::History* history() const { return history_.get(); }

    [[nodiscard]] Peers* peers() { return peers_.get(); }

    [[nodiscard]] const Peers* peers() const { return peers_.get(); }

  private:
    std::size_t read(HistoryRingReader& ring);

    std::unique_ptr<feed::History> history_;
    std::unique_ptr<Peers> peers_;
    std::vector<HistoryRingReader> history_rings_;
    StateExchange* exchange_ = nullptr;
    StateTransfer* transfer_ = nullptr;
    StepFreeClock clock_;
};

}  // namespace pinstrike::actors::peer
