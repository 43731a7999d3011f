// path: hot
//
// Keeps the numbers of a line's current numbering: the next expected number (E), the blocks held
// behind holes, and the numbers declared lost. It knows no resets: the caller says where a
// numbering begins.
#pragma once

#include "config/cache_line.h"
#include "config/check.h"
#include "feed/arbitration/arbitration_config.h"
#include "feed/arbitration/arrival.h"
#include "feed/arbitration/gap_set.h"
#include "feed/arbitration/held_blocks.h"
#include "feed/arbitration/line_counts.h"
#include "feed/event/block.h"
#include "feed/event/event.h"
#include "feed/event/position.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace pinstrike::feed {

enum class Verdict : std::uint8_t {
    deliver_all,    ///< the next block: the caller decodes all of it
    duplicate_all,  ///< wholly old: nothing to do
    slow,           ///< the caller calls commit_slow
};

class Sequencer {
  public:
    /// No deadline.
    static constexpr std::int64_t never_ns = HeldBlocks::never_ns;

    Sequencer(const ArbitrationConfig& config, const Numbering& numbering);

    /// Cold. The memory that a sequencer allocates beyond its own size.
    [[nodiscard]] static std::size_t memory_bytes(const ArbitrationConfig& config);

    /// The fast path: classifies a block on the assumption that it holds data and that all of its
    /// messages can be decoded. `fast`: its stream may take the fast path.
    [[nodiscard]] Verdict classify(const Block& block, bool fast) const;

    /// The fast path: moves E past the block that classify() found to be next.
    void advance(const Block& block);

    /// Updates the values that classify() reads. A block stamped before `earliest_ts_ns` may be of
    /// an earlier numbering.
    void refresh(std::int64_t earliest_ts_ns);

    [[nodiscard]] const Numbering& numbering() const { return numbering_; }

    [[nodiscard]] Position expected() const { return turn_ + expected_number_; }

    [[nodiscard]] std::uint64_t expected_number() const { return expected_number_; }

    /// The latest block time of the blocks that moved E in this numbering; no_ts_ns: none.
    [[nodiscard]] std::int64_t newest_ts_ns() const { return newest_ts_ns_; }

    [[nodiscard]] LineCounters& counters() { return counters_; }

    [[nodiscard]] const GapSet& gaps() const { return gaps_; }

    [[nodiscard]] HeldBlocks& held() { return held_; }

    /// The first position of the current numbering; 0: there is none yet.
    [[nodiscard]] Position begin() const { return begin_; }

    /// Starts a numbering. Blocks held for the one before were given up.
    void start(Position begin, std::int64_t newest_ts_ns);

    /// Lowers the first number of the current numbering. The earlier numbers are lost.
    void lower_begin(Position begin, std::int64_t ts_exchange_ns, ArbiterSink& sink);

    /// The position after the highest number known to have existed.
    [[nodiscard]] Position known_end() const {
        return held_.empty() ? expected() : held_.back().end;
    }

    /// The block time of the last known block.
    [[nodiscard]] std::int64_t known_ts_ns() const {
        return held_.empty() ? newest_ts_ns_ : held_.back().ts_ns();
    }

    /// Notes that numbers arrived that were unknown or missing, so those before them existed.
    void learn(const Arrival& arrival, Position begin, Position end);

    /// Notes that all numbers before `end` existed, because a control says so.
    void note_existence(const Arrival& arrival, Position end);

    /// Holds the entry unless it is next; `first` is its first message within the block. If there
    /// is not enough memory, the first holes are given up early, which may make the entry the next
    /// one. False if the entry is next.
    [[nodiscard]] bool wait(const Arrival& arrival, const HoldEntry& entry, unsigned first);

    /// Moves E past the messages that this block carried, or whose loss it showed.
    void pass(Position end, const Block& block);

    void deliver(const Block& block, unsigned first, unsigned count, Position begin,
                 DeliveryFlags flags, ArbiterSink& sink);

    /// Delivers held blocks while they are next.
    void release(ArbiterSink& sink);

    void declare_lost(Position begin, Position end, GapCause cause, std::int64_t ts_exchange_ns,
                      ArbiterSink& sink);

    /// Removes a part of one gap that was found. False if there is no space to list the rest of the
    /// gap.
    [[nodiscard]] bool unlist(Position begin, Position end, ArbiterSink& sink);

    /// Declares holes lost whose window has passed (never_ns: all holes), and delivers the blocks
    /// held behind them.
    void expire(std::int64_t now_ns, ArbiterSink& sink);

    /// Withdraws held blocks that are stamped later than this and so are not of this numbering.
    /// Each block that `defer(entry)` accepts leaves, and its counts are undone.
    template <class Defer>
    void withdraw_later_than(std::int64_t ts_ns, ArbiterSink& sink, Defer defer);

    /// The first position of the delivery under way; without one, E.
    [[nodiscard]] Position delivering() const {
        return delivering_ != 0 ? delivering_ : expected();
    }

  private:
    static constexpr std::uint64_t no_number = ~std::uint64_t{0};

    void expire_first_hole(Position end, std::int64_t ts_behind_ns, ArbiterSink& sink);

    void expect(Position position) {
        turn_ = numbering_.turn_of(position);
        expected_number_ = numbering_.number_at(position);
    }

    // What the fast path touches: one cache line, the first two counters included. Lines take turns
    // packet by packet, so each cache line of their state is fetched anew.

    /// The number that may be delivered at once.
    alignas(cache_line_bytes) std::uint64_t in_order_ = no_number;
    std::uint64_t expected_number_ = 0;          // E: of the position expected()
    std::uint64_t duplicates_from_ = no_number;  // all from here to E are delivered
    std::uint64_t last_number_;                  // the numbering's last number, before the wrap
    std::int64_t earliest_ts_ns_ = ArbiterSink::no_ts_ns;
    std::int64_t newest_ts_ns_ = ArbiterSink::no_ts_ns;
    LineCounters counters_;
    static_assert(LineCount::highest < LineCount{2} && LineCount::delivered < LineCount{2});
    static_assert(sizeof(in_order_) + sizeof(expected_number_) + sizeof(duplicates_from_) +
                      sizeof(last_number_) + sizeof(earliest_ts_ns_) + sizeof(newest_ts_ns_) +
                      2 * sizeof(Counter) <=
                  cache_line_bytes);

    Numbering numbering_;
    Position turn_ = 2 * numbering_.last;  // the position of E is turn_ + expected_number_
    Position begin_ = 0;
    GapSet gaps_;
    HeldBlocks held_;
    Position delivering_ = 0;  // first position of the delivery under way; 0: none
};

inline Verdict Sequencer::classify(const Block& block, bool fast) const {
    const std::uint64_t next = block.sequence + block.messages;
    const bool plain = fast && !block.retransmitted && block.messages != 0 &&
                       block.ts_exchange_ns >= earliest_ts_ns_ && next <= last_number_;
    if (!plain) [[unlikely]] {
        return Verdict::slow;
    }
    if (block.sequence == in_order_) {
        return Verdict::deliver_all;
    }
    return block.sequence >= duplicates_from_ && next <= expected_number_ &&
                   block.ts_exchange_ns <= newest_ts_ns_
               ? Verdict::duplicate_all
               : Verdict::slow;
}

inline void Sequencer::advance(const Block& block) {
    const std::uint64_t next = block.sequence + block.messages;
    in_order_ = next;
    expected_number_ = next;
    newest_ts_ns_ = std::max(newest_ts_ns_, block.ts_exchange_ns);
    counters_.bump(LineCount::highest, block.messages);
    counters_.bump(LineCount::delivered, block.messages);
}

template <class Defer>
void Sequencer::withdraw_later_than(std::int64_t ts_ns, ArbiterSink& sink, Defer defer) {
    const auto withdraw = [&](const HoldEntry& entry) {
        if (entry.ts_ns() <= ts_ns) {
            return false;
        }
        // Undecodable messages will be declared lost again in their own numbering, so that loss is
        // taken back here. The entry stays if that is not possible, because they were found since
        // or memory is lacking.
        const bool undecodable = entry.kind == HoldEntry::Kind::undecodable;
        if (undecodable &&
            (!gaps_.holds(entry.begin, entry.end) || !gaps_.remove(entry.begin, entry.end))) {
            return false;
        }
        if (!defer(entry)) {
            const bool listed = !undecodable || gaps_.add(entry.begin, entry.end);
            PINSTRIKE_CHECK(listed);  // its old place is free
            return false;
        }
        const std::uint64_t messages = entry.end - entry.begin;
        if (messages != 0) {
            sink.missing(entry.begin, entry.end, newest_ts_ns_, ts_ns);
        }
        if (undecodable) {
            Counter& lost = counters_.at(LineCount::lost);
            lost.set(lost.read() - messages);
            sink.gap(numbering_.number_at(entry.begin), numbering_.number_at(entry.end - 1),
                     messages, GapCause::repaired, entry.ts_ns(), 0);
        }
        held_.release(entry.held);
        return true;
    };
    const Position known = known_end();
    held_.remove_if(withdraw);
    PINSTRIKE_CHECK(known_end() <= known);
    if (known_end() != known) {
        sink.found(known_end(), known);  // these numbers are unknown again
    }
    Counter& highest = counters_.at(LineCount::highest);
    highest.set(highest.read() - (known - known_end()));
}

}  // namespace pinstrike::feed
