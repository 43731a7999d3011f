// path: hot
//
// One line's two streams made into one: every message once, in order, and whatever neither stream
// brought declared lost (spec e). The arbiter knows blocks and numbers, not what is in them.
//
// Nearly every block is either exactly the next one or wholly old. foresee() says so in a few
// compares of its header, before anybody has looked at its messages, and the caller decodes the
// block or drops it. Everything else goes through admit_slow() (slow_path.h), which tells an
// ArbiterSink what to do.
#pragma once

#include "feed/arbitration/arbiter_sink.h"
#include "feed/arbitration/arbiter_state.h"
#include "feed/arbitration/arbitration_config.h"
#include "feed/arbitration/line_counts.h"
#include "feed/arbitration/sequencer.h"
#include "feed/arbitration/slow_path.h"
#include "feed/event/block.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pinstrike::feed {

/// One line. Used by one thread; its counters may be read by any. Allocates at construction only.
///
/// Times are passed in and never decrease. The caller runs the timers, step(), up to a packet's
/// time before it admits the packet.
class Arbiter {
  public:
    /// No deadline.
    static constexpr std::int64_t never_ns = Sequencer::never_ns;

    /// Numbers first..last, last >= first.
    struct NumberRange {
        std::uint32_t first;
        std::uint32_t last;
        friend bool operator==(const NumberRange&, const NumberRange&) = default;
    };

    explicit Arbiter(const ArbitrationConfig& config);

    /// Cold. What one takes at most: claimed at construction, but touched only as it is used.
    [[nodiscard]] static std::size_t memory_bytes(const ArbitrationConfig& config);

    /// Every datagram of the stream's own group, good or bad.
    void count_packet(Stream stream) { line_.stream(stream).counters.bump(StreamCount::packets); }

    /// What becomes of a block by its header, should it hold data and all of it be decodable.
    /// Counts nothing: who finds it so says take_next() or take_duplicate().
    [[nodiscard]] Verdict foresee(const Block& block, Stream stream) const {
        return line_.sequencer.classify(block, line_.stream(stream).fast);
    }

    /// The block that foresee() called next was decoded, or will be.
    [[gnu::always_inline]] void take_next(const Block& block, Stream stream);

    /// The block that foresee() called wholly old needs nothing.
    void take_duplicate(const Block& block, Stream stream);

    /// All at once, of a block whose messages were walked: decides and counts what can be.
    [[nodiscard]] Verdict admit(const Block& block, Stream stream);

    /// Whatever admit() called slow. `stream` is of no account for a retransmitted block.
    void admit_slow(const Block& block, Stream stream, std::int64_t now_ns, ArbiterSink& sink) {
        slow_.process(block, stream, now_ns, sink);
    }

    /// Messages that somebody brought first, but for blocks that were deferred (the sink is told
    /// of those): more of them behind admit_slow() than before, and its block was taken.
    [[nodiscard]] std::uint64_t taken_at_once() const { return slow_.taken_at_once(); }

    /// Gives up waiting where the time has come.
    void step(std::int64_t now_ns, ArbiterSink& sink) { slow_.step(now_ns, sink); }

    /// Of holes from now on; those that wait already wait as long as they were to.
    void set_window(std::int64_t window_ns) { line_.sequencer.set_window(window_ns); }

    /// When step() next has something to do.
    [[nodiscard]] std::int64_t next_deadline_ns() const { return slow_.next_deadline_ns(); }

    /// The end of the input: what is still missing is lost, what waits behind it is delivered.
    void finish(std::int64_t now_ns, ArbiterSink& sink) { slow_.finish(now_ns, sink); }

    /// The caller decoded a message, just delivered, that makes consumers forget quotes: later
    /// deliveries of older numbers are marked.
    void flush_at(std::uint32_t number) { line_.sequencer.note_flush_at(number); }

    [[nodiscard]] LineCounters& counters() { return line_.counters(); }

    [[nodiscard]] StreamCounters& counters(Stream stream) { return line_.stream(stream).counters; }

    /// Cold. What was declared lost and not found, in order; a range that spans the wrap is two.
    [[nodiscard]] std::vector<NumberRange> gaps() const;

    /// The next number expected; 0 before the first block.
    [[nodiscard]] std::uint32_t expected() const {
        return line_.epochs.current().numbered ? line_.sequencer.expected_number() : 0;
    }

    /// The latest stamp of what came before the next number expected, in its numbering; 0: not
    /// known.
    [[nodiscard]] std::int64_t reached_ts_ns() const {
        const std::int64_t ts_ns = line_.sequencer.newest_ts_ns();
        return ts_ns == ArbiterSink::no_ts_ns ? 0 : ts_ns;
    }

  private:
    void follow(const Block& block, Stream stream, StreamCount became);

    // The fast path touches one cache line of the sequencer, one of the stream, and two of the
    // recent blocks (their count and one beginning).
    ArbiterState line_;
    SlowPath slow_;
};

inline void Arbiter::take_next(const Block& block, Stream stream) {
    line_.sequencer.advance(block);
    line_.recent.note(block);
    follow(block, stream, StreamCount::accepted);
}

inline void Arbiter::take_duplicate(const Block& block, Stream stream) {
    follow(block, stream, StreamCount::duplicate);
}

inline void Arbiter::follow(const Block& block, Stream stream, StreamCount became) {
    StreamState& state = line_.stream(stream);
    state.follow(block.sequence + block.messages, block.ts_exchange_ns);
    state.counters.bump(StreamCount::messages, block.messages);
    state.counters.bump(became, block.messages);
}

inline Verdict Arbiter::admit(const Block& block, Stream stream) {
    if (block.role != BlockRole::data || block.decodable != block.messages) [[unlikely]] {
        return Verdict::slow;
    }
    const Verdict verdict = foresee(block, stream);
    if (verdict == Verdict::deliver_all) {
        take_next(block, stream);
    } else if (verdict == Verdict::duplicate_all) {
        take_duplicate(block, stream);
    }
    return verdict;
}

}  // namespace pinstrike::feed
