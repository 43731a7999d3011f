// path: hot
//
// Infers resets that both streams lost from the blocks after them.
//
// After a lost reset every block looks old. A block is a candidate if it is numbered below the
// expected number and stamped later than everything delivered, even if it would fit into a gap or a
// hole: blocks that fill those are stamped earlier. The candidate is deferred, and with it every
// block that is stamped later, because usually the other stream is only slower and will still
// deliver the reset. When the window has passed, the reset is inferred at the earliest deferred
// block. A second candidate confirms the first. Until then, the candidate is rejected if its stream
// continues with the expected number: the block was old.
#pragma once

#include "feed/arbitration/arbiter_state.h"
#include "feed/arbitration/arrival.h"
#include "feed/arbitration/deferred_blocks.h"
#include "feed/event/block.h"

#include <cstddef>
#include <cstdint>

namespace pinstrike::feed {

class ResetInference {
  public:
    enum class Decision : std::uint8_t {
        place,     ///< the block belongs to the epoch that its block time and stream say
        defer,     ///< the block was deferred
        reject,    ///< place the block; the candidate was old
        overflow,  ///< the block had to be deferred, but there is not enough memory
    };

    ResetInference(ArbiterState& line, std::size_t deferred_bytes)
        : line_(line), deferred_(deferred_bytes) {}

    [[nodiscard]] DeferredBlocks& deferred() { return deferred_; }

    /// Whether there is a candidate.
    [[nodiscard]] bool is_open() const { return candidates_ != 0; }

    [[nodiscard]] bool is_confirmed() const { return candidates_ >= confirming; }

    /// Whether a missed reset is confirmed that was stamped earlier than this.
    [[nodiscard]] bool is_confirmed_before(std::int64_t ts_ns) const {
        return is_confirmed() && first_ts_ns_ < ts_ns;
    }

    /// The time at which the reset is inferred.
    [[nodiscard]] std::int64_t deadline_ns() const { return infer_at_ns_; }

    /// Considers a data or line integrity block of a stream.
    [[nodiscard]] Decision consider(const Arrival& arrival);

    /// Compares a block with the held ones. A stream's blocks are stamped in the order of their
    /// numbers. If a held block begins no later than this one but is stamped later, a reset lies
    /// between the two, which both streams lost or have not delivered yet. (A retransmission may
    /// have another order.)
    void compare_with_held(const Arrival& arrival);

    /// Defers held blocks that are stamped later than a reset, because the stream that carried them
    /// had lost it. They are placed again once the new epoch is open.
    void defer_held_later_than(std::int64_t ts_ns, ArbiterSink& sink);

    /// Ends the candidate, because it is rejected or an epoch was opened for it. Deferred blocks
    /// stay deferred until they are placed.
    void close();

    /// Makes a deferred block the next candidate if, after an epoch was opened, it looks as if it
    /// followed a further reset.
    [[nodiscard]] bool reopen(const HeldBlock& held);

    /// The missing reset, made up from the first block after it.
    [[nodiscard]] Block reset_before(const Block& first) const;

  private:
    static constexpr unsigned confirming = 2;  ///< candidates

    [[nodiscard]] bool looks_missed(const Block& block) const;
    [[nodiscard]] bool is_behind(const Arrival& arrival) const;
    void note(const Block& block, Source source, std::int64_t arrival_ns, bool looks_missed);
    [[nodiscard]] bool defer(const HoldEntry& entry);

    ArbiterState& line_;
    DeferredBlocks deferred_;
    unsigned candidates_ = 0;        ///< blocks that indicate the missed reset
    Source source_ = Source::a;      ///< of the latest candidate
    std::uint64_t next_number_ = 0;  ///< the number that follows it
    std::int64_t first_ts_ns_ = 0;
    std::int64_t newest_ts_ns_ = 0;
    std::int64_t infer_at_ns_ = Sequencer::never_ns;
};

}  // namespace pinstrike::feed
