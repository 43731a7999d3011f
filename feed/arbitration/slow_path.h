// path: hot
//
// Processes the blocks that the fast path cannot process: at holes and resets, while the streams
// are in different epochs, retransmissions, and blocks that cannot be decoded to their end.
#pragma once

#include "feed/arbitration/arbiter_state.h"
#include "feed/arbitration/arbitration_config.h"
#include "feed/arbitration/arrival.h"
#include "feed/arbitration/block_placer.h"
#include "feed/arbitration/epoch_corrections.h"
#include "feed/arbitration/loop_detector.h"
#include "feed/arbitration/reset_inference.h"
#include "feed/event/block.h"

#include <cstdint>

namespace pinstrike::feed {

class SlowPath {
  public:
    SlowPath(ArbiterState& line, const ArbitrationConfig& config);

    /// Processes a block by its role, and updates the state of the fast path.
    void process(const Block& block, Stream stream, std::int64_t now_ns, ArbiterSink& sink);

    /// Declares holes lost whose window has passed.
    void step(std::int64_t now_ns, ArbiterSink& sink) {
        if (now_ns >= next_deadline_ns_) {
            run_timers(now_ns, sink);
        }
    }

    /// At the end of the input: declares missing messages lost and delivers the held blocks.
    void finish(std::int64_t now_ns, ArbiterSink& sink);

    /// The earliest time at which step() has something to do.
    [[nodiscard]] std::int64_t next_deadline_ns() const { return next_deadline_ns_; }

    /// Messages accepted for the first time, without those of deferred blocks.
    [[nodiscard]] std::uint64_t committed_at_once() const { return brought() - deferred_commits_; }

  private:
    void run_timers(std::int64_t now_ns, ArbiterSink& sink);
    void refresh();
    [[nodiscard]] std::int64_t first_stamp_of(const Block& block, const ArbiterSink& sink);

    void route(const Arrival& arrival);
    void on_data(const Arrival& arrival);
    void on_integrity(const Arrival& arrival);
    void on_repair(const Arrival& arrival);
    void on_reset(const Arrival& arrival);
    void on_new_session(const Arrival& arrival);
    void on_unnumbered(const Arrival& arrival);
    void start_numbering(const Block& block, std::uint64_t number);
    [[nodiscard]] EpochIndex join_epoch_of(const Arrival& arrival);

    void follow_reset(const Arrival& arrival);
    void on_reset_message(const Arrival& arrival);
    void on_repeated_reset(const Arrival& arrival);
    void on_stale_reset(const Arrival& arrival);
    void apply_reset(const Arrival& arrival);
    void open_epoch(const Block& reset, bool inferred, ArbiterSink& sink);

    [[nodiscard]] bool defer(const Arrival& arrival);
    void reject(std::int64_t now_ns, ArbiterSink& sink);
    void infer_reset(std::int64_t now_ns, ArbiterSink& sink,
                     std::int64_t until_ts_ns = ArbiterSink::any_ts_ns);
    void replay_deferred(std::int64_t now_ns, ArbiterSink& sink,
                         std::int64_t until_ts_ns = ArbiterSink::any_ts_ns);
    void replay(HeldBlock* held, std::int64_t now_ns, ArbiterSink& sink);
    [[nodiscard]] std::uint64_t brought() const;

    ArbiterState& line_;
    LoopDetector loops_;
    ResetInference inference_;
    EpochCorrections corrections_;
    BlockPlacer placer_;
    std::int64_t next_deadline_ns_ = Sequencer::never_ns;
    std::uint64_t deferred_commits_ = 0;
    bool replaying_ = false;  // a deferred block is being placed, so its epoch is known
};

}  // namespace pinstrike::feed
