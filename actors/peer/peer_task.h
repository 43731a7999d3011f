// path: cold
//
// What an instance does for its peers, as the recovery thread runs it, or a simulation: takes the
// first copies that the pollers send along, keeps them for a while, and serves them. Stepped with
// wall time, which may jump; what it keeps, and its connections, age at the same pace all the same.
#pragma once

#include "actors/peer/peers.h"
#include "actors/peer/state_transfer.h"
#include "actors/poller/history_ring.h"
#include "feed/recovery/history.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace pinstrike::actors::peer {

class PeerTask {
  public:
    /// Either may be null: nothing is kept; there are no peers.
    PeerTask(std::unique_ptr<feed::History> history, std::unique_ptr<Peers> peers);

    /// Before the first step: series' state goes from and to the books. `transfer` null: none is
    /// taken. Both outlive the peers.
    void add_state(StateDesk* desk, StateTransfer* transfer) {
        desk_ = desk;
        transfer_ = transfer;
    }

    /// Before the first step.
    void add_road(HistoryRoadEnd road) { roads_.push_back(std::move(road)); }

    /// How much was done.
    std::size_t step(std::int64_t now_ns);

    /// After the pollers have ended, by the thread that stepped or one that joined it: all
    /// that they wrote is read.
    void finish();

    [[nodiscard]] feed::History* history() { return history_.get(); }

    [[nodiscard]] const feed::History* history() const { return history_.get(); }

    [[nodiscard]] Peers* peers() { return peers_.get(); }

    [[nodiscard]] const Peers* peers() const { return peers_.get(); }

  private:
    std::size_t take(HistoryRoadEnd& road);

    std::unique_ptr<feed::History> history_;
    std::unique_ptr<Peers> peers_;
    std::vector<HistoryRoadEnd> roads_;
    StateDesk* desk_ = nullptr;
    StateTransfer* transfer_ = nullptr;
    std::int64_t seen_ns_ = 0;  ///< wall time of the last step
    std::int64_t time_ns_ = 0;  ///< begins with it, never decreases, and never jumps
};

}  // namespace pinstrike::actors::peer
