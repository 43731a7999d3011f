// path: hot
//
// Resets that both streams lost, recognised by what follows them.
//
// Behind a lost reset every block looks old. A block that is numbered below the expected number and
// stamped later than all that was delivered is therefore a candidate, also where it would fit into
// a gap or a hole: what fills those is stamped earlier than what is behind them. It is deferred,
// and with it what is stamped later, for usually the other stream is only slower and still brings
// the reset. When the window has passed, the reset is inferred at the earliest block deferred. A
// second candidate confirms the first; until then, the candidate is rejected if its stream goes on
// with the expected number: the block was old.
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
        place,     ///< the block is of the epoch that its stamp and stream say
        defer,     ///< it was deferred
        reject,    ///< to be placed, and the candidate is none
        overflow,  ///< to be deferred, but there is no room
    };

    ResetInference(ArbiterState& line, std::size_t deferred_bytes)
        : line_(line), deferred_(deferred_bytes) {}

    [[nodiscard]] DeferredBlocks& deferred() { return deferred_; }

    /// Whether there is a candidate.
    [[nodiscard]] bool is_open() const { return candidates_ != 0; }

    [[nodiscard]] bool is_confirmed() const { return candidates_ >= confirming; }

    /// Stamped earlier than this, a reset was missed.
    [[nodiscard]] bool is_confirmed_before(std::int64_t ts_ns) const {
        return is_confirmed() && first_ts_ns_ < ts_ns;
    }

    /// When the reset is inferred.
    [[nodiscard]] std::int64_t deadline_ns() const { return infer_at_ns_; }

    /// Of a data or line integrity block of a stream.
    [[nodiscard]] Decision consider(const Arrival& arrival);

    /// A stream's blocks are stamped in the order of their numbers. Where one waits that begins no
    /// later than this one, but is stamped later, both streams lost a reset between the two, or
    /// have yet to bring it. (What was retransmitted may be packed and stamped otherwise.)
    void compare_with_held(const Arrival& arrival);

    /// Blocks that wait behind holes although they are stamped later than a reset: the stream that
    /// brought them had lost it. They are placed again once the new epoch is open.
    void defer_held_later_than(std::int64_t ts_ns, ArbiterSink& sink);

    /// The candidate is rejected, or an epoch was opened for it. What was deferred stays so until
    /// it is placed.
    void close();

    /// An epoch was opened, and this deferred block looks to be behind a further reset: so it is
    /// the candidate, with all that is deferred still.
    [[nodiscard]] bool reopen(const HeldBlock& held);

    /// The reset that no stream brought, as the first block behind it shows it.
    [[nodiscard]] static Block reset_before(const Block& first);

  private:
    static constexpr unsigned confirming = 2;  ///< candidates

    [[nodiscard]] bool looks_missed(const Block& block) const;
    [[nodiscard]] bool is_behind(const Arrival& arrival) const;
    void note(const Block& block, Source source, std::int64_t arrival_ns, bool looks_missed);
    [[nodiscard]] bool defer(const HoldEntry& entry);

    ArbiterState& line_;
    DeferredBlocks deferred_;
    unsigned candidates_ = 0;        ///< blocks that show the missed reset
    Source source_ = Source::a;      ///< of the latest
    std::uint32_t next_number_ = 0;  ///< what goes on from it
    std::int64_t first_ts_ns_ = 0;
    std::int64_t newest_ts_ns_ = 0;
    std::int64_t infer_at_ns_ = Sequencer::never_ns;
};

}  // namespace pinstrike::feed
