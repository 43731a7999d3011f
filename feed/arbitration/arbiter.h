// path: hot
//
// Merges the two streams of a line: delivers each message once and in order, and declares lost the
// messages that neither stream carried (OPRA Block Sequence Number). The arbiter knows blocks and
// numbers, but not the content of messages.
//
// Nearly every block is either the next one or wholly old. classify_by_header() finds that out with
// a few compares of its header, before any message is read, and the caller decodes the block or
// drops it. All other blocks go through commit_slow() (slow_path.h), which reports its decisions to
// an ArbiterSink.
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

/// The arbiter of one line. One thread uses it; any thread may read the counters. Allocates at
/// construction only.
///
/// Times are passed in and never decrease. The caller runs the timers with step(). In a replay it
/// first calls step() with the time of a packet and then commits the packet's blocks. Live it first
/// processes all bursts that wait, because they may have the copy that fills a hole.
class Arbiter {
  public:
    /// No deadline.
    static constexpr std::int64_t never_ns = Sequencer::never_ns;

    /// Numbers first..last, last >= first.
    struct NumberRange {
        std::uint64_t first;
        std::uint64_t last;
        friend bool operator==(const NumberRange&, const NumberRange&) = default;
    };

    Arbiter(const ArbitrationConfig& config, const Numbering& numbering);

    /// Cold. The most memory that an arbiter takes. It is allocated at construction, but touched
    /// only when it is used.
    [[nodiscard]] static std::size_t memory_bytes(const ArbitrationConfig& config);

    /// Counts a datagram of the stream's own group, valid or not.
    void count_packet(Stream stream) { line_.stream(stream).counters.bump(StreamCount::packets); }

    /// Classifies a block by its header alone, on the assumption that it holds data and that all of
    /// its messages can be decoded. Changes no counter: the caller reports the outcome with
    /// commit_next() or commit_duplicate().
    [[nodiscard]] Verdict classify_by_header(const Block& block, Stream stream) const {
        return line_.sequencer.classify(block, line_.stream(stream).fast);
    }

    /// Commits a block that classify_by_header() found to be the next one. The caller has decoded
    /// it or will.
    [[gnu::always_inline]] void commit_next(const Block& block, Stream stream);

    /// Commits a block that classify_by_header() found to be wholly old.
    void commit_duplicate(const Block& block, Stream stream);

    /// Classifies a block whose messages were walked, and commits it unless the verdict is `slow`.
    [[nodiscard]] Verdict commit(const Block& block, Stream stream);

    /// Processes a block for which commit() returned `slow`. `stream` is ignored for a
    /// retransmitted block.
    void commit_slow(const Block& block, Stream stream, std::int64_t now_ns, ArbiterSink& sink) {
        slow_.process(block, stream, now_ns, sink);
    }

    /// Messages accepted for the first time, without those of deferred blocks, which
    /// ArbiterSink::committed() reports. If commit_slow() raises this number, it accepted messages
    /// of its block.
    [[nodiscard]] std::uint64_t committed_at_once() const { return slow_.committed_at_once(); }

    /// Declares holes lost whose window has passed.
    void step(std::int64_t now_ns, ArbiterSink& sink) { slow_.step(now_ns, sink); }

    /// Sets the window. It also applies to a hole that is already open, from the line's next block
    /// or timer on.
    void set_window(std::int64_t window_ns) { line_.sequencer.held().set_window(window_ns); }

    /// Cold. These numbers were left out of the input on purpose: they are not lost.
    void set_left_out(std::vector<LeftOutRange> ranges);

    /// The numbers that did not come because they were left out.
    [[nodiscard]] const Counter& left_out_count() {
        return line_.sequencer.held().left_out().count();
    }

    /// The earliest time at which step() has something to do.
    [[nodiscard]] std::int64_t next_deadline_ns() const { return slow_.next_deadline_ns(); }

    /// At the end of the input: declares missing messages lost and delivers the held blocks.
    void finish(std::int64_t now_ns, ArbiterSink& sink) { slow_.finish(now_ns, sink); }

    /// Reports that the message just delivered makes consumers forget quotes. Older numbers that
    /// are delivered later are marked.
    void flush_at(std::uint64_t number) {
        if (number != 0) {
            const Position delivered = line_.sequencer.delivering();
            line_.flushed.note(line_.numbering().nearest(delivered, number));
        }
    }

    [[nodiscard]] LineCounters& counters() { return line_.counters(); }

    [[nodiscard]] StreamCounters& counters(Stream stream) { return line_.stream(stream).counters; }

    /// Cold. The numbers that were declared lost and not found since, in order. A range that spans
    /// the wrap is split in two.
    [[nodiscard]] std::vector<NumberRange> gaps() const;

    /// The next number expected; 0 before the first block.
    [[nodiscard]] std::uint64_t expected() const {
        return line_.epochs.current().numbered ? line_.sequencer.expected_number() : 0;
    }

    /// The latest block time before the next expected number, in its numbering; 0: not known.
    [[nodiscard]] std::int64_t reached_ts_ns() const {
        const std::int64_t ts_ns = line_.sequencer.newest_ts_ns();
        return ts_ns == ArbiterSink::no_ts_ns ? 0 : ts_ns;
    }

  private:
    void follow(const Block& block, Stream stream, StreamCount became);

    // The fast path touches one cache line of the sequencer, one cache line of the stream, and two
    // cache lines of the recent blocks (their counter, and the first bytes of one of them).
    ArbiterState line_;
    SlowPath slow_;
};

inline void Arbiter::commit_next(const Block& block, Stream stream) {
    line_.sequencer.advance(block);
    line_.recent.note(block);
    follow(block, stream, StreamCount::accepted);
}

inline void Arbiter::commit_duplicate(const Block& block, Stream stream) {
    follow(block, stream, StreamCount::duplicate);
}

inline void Arbiter::follow(const Block& block, Stream stream, StreamCount became) {
    StreamState& state = line_.stream(stream);
    state.follow(block.sequence + block.messages, block.ts_exchange_ns);
    state.counters.bump(StreamCount::messages, block.messages);
    state.counters.bump(became, block.messages);
}

inline Verdict Arbiter::commit(const Block& block, Stream stream) {
    if (block.role != BlockRole::data || block.decodable != block.messages) [[unlikely]] {
        return Verdict::slow;
    }
    const Verdict verdict = classify_by_header(block, stream);
    if (verdict == Verdict::deliver_all) {
        commit_next(block, stream);
    } else if (verdict == Verdict::duplicate_all) {
        commit_duplicate(block, stream);
    }
    return verdict;
}

}  // namespace pinstrike::feed
