// path: hot
//
// Resets that have to be recognised by what follows them.
//
// A reset lost on both streams leaves every later block looking old. A block below E, stamped later
// than all that was delivered, is therefore deferred, also where it would fit into a gap or a hole:
// what fills those is stamped earlier than what is behind them. It makes its stream a candidate. If
// the stream goes on from it, or the other one brings it too, a reset was missed. Usually the other
// stream is only slower and still brings the reset: so the new epoch is inferred only when the
// window has passed, and what was deferred is placed when the epoch is known, one way or the other.
// If the stream goes on elsewhere, the candidate is rejected: the block was old. If the stream
// brings nothing more within the window, the candidate times out, and a reset was missed. Streams
// in disorder may have brought blocks from behind several such resets by then: so they are placed
// in the order of their stamps, up to the next.
//
// This class holds what was deferred and says what it shows; slow_path.h acts on it.
#pragma once

#include "feed/arbitration/arbiter_state.h"
#include "feed/arbitration/arrival.h"
#include "feed/arbitration/deferred_blocks.h"
#include "feed/event/block.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace pinstrike::feed {

/// A stream's latest block looks like one from behind a missed reset, unless the next ones reject
/// it.
struct Candidate {
    bool open = false;
    std::uint32_t next_number = 0;                      ///< what would corroborate it
    std::int64_t newest_ts_ns = ArbiterSink::no_ts_ns;  ///< of its newest block
    std::int64_t timeout_ns = Sequencer::never_ns;      ///< confirmed then
};

class ResetInference {
  public:
    enum class Corroboration : std::uint8_t {
        none,    ///< the block has nothing to do with the stream's candidate
        some,    ///< the block fits, and was deferred
        enough,  ///< with this one, the candidate is confirmed
    };

    ResetInference(ArbiterState& line, std::size_t deferred_bytes)
        : line_(line), deferred_(deferred_bytes) {}

    [[nodiscard]] DeferredBlocks& deferred() { return deferred_; }

    /// Whether anything is to be found out yet.
    [[nodiscard]] bool is_active() const;

    /// A reset was missed, and waits for the other stream to bring it.
    [[nodiscard]] bool is_confirmed() const { return confirmed_; }

    /// Stamped earlier than the first block behind the confirmed reset.
    [[nodiscard]] bool is_confirmed_before(std::int64_t ts_ns) const {
        return confirmed_ && confirmed_ts_ns_ < ts_ns;
    }

    [[nodiscard]] Source confirmed_by() const { return confirmed_by_; }

    [[nodiscard]] const Candidate& candidate(Source source) const {
        return candidates_[static_cast<std::size_t>(source)];
    }

    /// When the confirmed reset is inferred, or a candidate times out.
    [[nodiscard]] std::int64_t deadline_ns() const;

    /// Of a confirmed reset: whether the block is from behind it, or from behind one more.
    [[nodiscard]] bool is_behind_confirmed(const Arrival& arrival) const;

    /// False if there is no room.
    [[nodiscard]] bool defer_behind_confirmed(const Arrival& arrival);

    /// Of a block of the current epoch, or of a stream that may only have lost the reset.
    [[nodiscard]] bool looks_like_missed_reset(const Arrival& arrival) const {
        return line_.epochs.is_of_current(arrival.block, line_.stream_of(arrival)) &&
               looks_like_missed_reset(arrival.block);
    }

    [[nodiscard]] bool looks_like_missed_reset(const Block& block) const;

    /// Whether the stream's candidate is strengthened by this block, or not weakened: one that
    /// skips numbers may go on from the candidate, behind a loss, as well as from what was
    /// delivered.
    [[nodiscard]] Corroboration corroborate(const Arrival& arrival, bool looks_missed);

    /// Whether a block that neither corroborates the stream's candidate nor looks like another one
    /// shows that it is none.
    [[nodiscard]] bool contradicts(const Arrival& arrival, bool looks_missed);

    /// Defers the block and makes it the stream's candidate. False if there is no room.
    [[nodiscard]] bool begin(const Arrival& arrival);

    /// The stream's candidate is rejected.
    void clear(Source source) { candidates_[static_cast<std::size_t>(source)] = {}; }

    /// An epoch was opened: nothing is left to be found out.
    void clear();

    /// What the other stream deferred as a candidate and this block, deferred too, bears out: the
    /// block itself, or its neighbour. nullptr if there is none.
    [[nodiscard]] const HeldBlock* corroborated_by(const Arrival& arrival) const;

    /// A reset was missed, as this stream shows.
    void confirm(Source source);

    /// The candidate that waited longest had its time, and nothing rejected it.
    void confirm_by_timeout(std::int64_t now_ns);

    /// Of what stays deferred behind a reset: it may show a further one, as if it came only now.
    void reconsider(const HeldBlock& held);

    /// A stream's blocks are stamped in the order of their numbers. Where one waits that begins no
    /// later than this one, but is stamped later, both streams lost a reset between the two, or
    /// have yet to bring it. (What was retransmitted may be packed and stamped otherwise.)
    void compare_with_held(const Arrival& arrival);

    /// Blocks that wait behind holes although they are stamped later than a reset: the stream that
    /// brought them had lost it. They are placed again once the new epoch is open.
    void defer_held_later_than(std::int64_t ts_ns, ArbiterSink& sink);

    /// The reset that no stream brought: the epoch begins with the first block deferred.
    [[nodiscard]] Block confirmed_reset() const;

  private:
    [[nodiscard]] Candidate& candidate_of(const Arrival& arrival) {
        return candidates_[static_cast<std::size_t>(arrival.source)];
    }

    [[nodiscard]] bool is_out_of_order(const Arrival& arrival) const;
    [[nodiscard]] bool skips_from(const Candidate& candidate, const Block& block) const;
    [[nodiscard]] bool defer(const HoldEntry& entry);
    [[nodiscard]] std::int64_t timeout_ns() const;
    void confirm_at(Source source, std::int64_t infer_at_ns);

    ArbiterState& line_;
    DeferredBlocks deferred_;
    std::array<Candidate, streams_count> candidates_;
    bool confirmed_ = false;
    Source confirmed_by_ = Source::a;
    std::int64_t confirmed_ts_ns_ = 0;  // of the first block behind the missed reset
    std::int64_t infer_at_ns_ = Sequencer::never_ns;
};

}  // namespace pinstrike::feed
