// path: hot
//
// One line's two streams made into one: every message once, in order, and whatever neither stream
// brought declared lost (spec e). The arbiter knows blocks and numbers, not what is in them.
//
// Nearly every block is either exactly the next one or wholly old. foresee() says so in a few
// compares of its header, before anybody has looked at its messages, and the caller decodes the
// block or drops it. Everything else (holes, resets, streams that are in different epochs,
// retransmissions, blocks that cannot be decoded to their end) goes through admit_slow(), which
// tells an ArbiterSink what to do.
//
// Files: arbiter.cpp places numbers and declares gaps; arbiter_resets.cpp decides to which epoch
// a block belongs and what a reset does; arbiter_missed_reset.cpp finds resets that were missed.
#pragma once

#include "feed/arbitration/epochs.h"
#include "feed/arbitration/first_blocks.h"
#include "feed/arbitration/gap_set.h"
#include "feed/arbitration/hold.h"
#include "feed/arbitration/line_counts.h"
#include "feed/arbitration/position.h"
#include "feed/arbitration/recent_blocks.h"
#include "feed/event/block.h"
#include "feed/event/event.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace pinstrike::feed {

struct ArbitrationConfig {
    std::int64_t window_ns = 2'000'000;   ///< how long a hole waits for the other stream
    std::size_t hold_bytes = 512 * 1024;  ///< memory of each line for what waits behind holes
    std::size_t gap_ranges = 65536;       ///< of each line, not yet found
};

/// How a delivery relates to what went before it: the EventFlag bits that apply.
using DeliveryFlags = std::uint8_t;

/// Where an Arbiter's slow path puts what it decides. The fast path needs none of it.
class ArbiterSink {
  public:
    virtual ~ArbiterSink() = default;
    /// Messages first .. first+count-1 of the block (indices from 0), all decodable, in order.
    /// A block that waited has no places.
    virtual void deliver(const Block& block, unsigned first, unsigned count,
                         DeliveryFlags flags) = 0;

    /// The exchange time of the block that begins with one of these, if `block`, a data block of
    /// the same numbering, is a copy of it that has another time. Nothing: none of them.
    [[nodiscard]] virtual std::optional<std::int64_t> ts_of_copy(
        std::span<const BlockStart> /*starts*/, const Block& /*block*/) const {
        return std::nullopt;
    }

    /// Numbers first..last declared lost (or, cause repaired, found after all). None of them was
    /// stamped before `ts_exchange_ns`, as far as is known.
    virtual void gap(std::uint32_t first, std::uint32_t last, std::uint64_t messages,
                     GapCause cause, std::int64_t ts_exchange_ns) = 0;
    /// A start of day or reset, once per line; block has role start_of_day or reset. `forget` says
    /// what it makes consumers forget; inferred: no copy of it was seen, and the block, made up,
    /// has no bytes and role reset, whichever it was. Where only later something shows that a reset
    /// lowered the numbers, it is told once more, and its block is made up too.
    virtual void reset(const Block& block, Forget forget, bool inferred) = 0;

    /// Whether a reset that no stream brought is to be taken for the start of a day.
    [[nodiscard]] virtual bool start_is_due() const { return false; }

    /// A block that had been set aside is taken now, in whole or in part.
    virtual void taken(const Block& /*block*/) {}

    /// Notes for recovery, whether the numbers are declared lost yet or not: from now on, whoever
    /// has these may fill them. They were stamped within these times, as far as is known (no_ts_ns,
    /// any_ts_ns: not known).
    virtual void missing(Position /*begin*/, Position /*end*/, std::int64_t /*ts_before_ns*/,
                         std::int64_t /*ts_behind_ns*/) {}

    /// Of these, none need be looked for any more, if any was: they came, or no copy of them would
    /// help.
    virtual void found(Position /*begin*/, Position /*end*/) {}

    static constexpr std::int64_t no_ts_ns = std::numeric_limits<std::int64_t>::min();
    static constexpr std::int64_t any_ts_ns = std::numeric_limits<std::int64_t>::max();
};

enum class Verdict : std::uint8_t {
    deliver_all,    ///< the next one: the caller decodes the whole block
    duplicate_all,  ///< wholly old: nothing to do
    slow,           ///< the caller calls admit_slow
};

/// One line. Used by one thread; its counters may be read by any. Allocates at construction only.
///
/// Times are passed in and never decrease. The caller runs the timers, step(), up to a packet's
/// time before it admits the packet.
class Arbiter {
  public:
    /// No deadline.
    static constexpr std::int64_t never_ns = std::numeric_limits<std::int64_t>::max();

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
    void count_packet(Stream stream) { state_of(stream).counters.bump(StreamCount::packets); }

    /// What becomes of a block by its header, should it hold data and all of it be decodable.
    /// Counts nothing: who finds it so says take_next() or take_duplicate().
    [[nodiscard]] Verdict foresee(const Block& block, Stream stream) const;

    /// The block that foresee() called next was decoded, or will be.
    [[gnu::always_inline]] void take_next(const Block& block, Stream stream);

    /// The block that foresee() called wholly old needs nothing.
    void take_duplicate(const Block& block, Stream stream);

    /// All at once, of a block whose messages were walked: decides and counts what can be.
    [[nodiscard]] Verdict admit(const Block& block, Stream stream);

    /// Whatever admit() called slow. `stream` is of no account for a retransmitted block.
    void admit_slow(const Block& block, Stream stream, std::int64_t now_ns, ArbiterSink& sink);

    /// Messages that somebody brought first, but for blocks that were set aside (the sink is told
    /// of those): more of them behind admit_slow() than before, and its block was taken.
    [[nodiscard]] std::uint64_t taken_at_once() const { return brought() - brought_aside_; }

    /// Gives up waiting where the time has come.
    void step(std::int64_t now_ns, ArbiterSink& sink);

    /// Of holes from now on; those that wait already wait as long as they were to.
    void set_window(std::int64_t window_ns) { window_ns_ = window_ns; }

    /// When step() next has something to do.
    [[nodiscard]] std::int64_t next_deadline_ns() const { return next_deadline_ns_; }

    /// The end of the input: what is still missing is lost, what waits behind it is delivered.
    void finish(std::int64_t now_ns, ArbiterSink& sink);

    /// The caller decoded a message, just delivered, that makes consumers forget quotes: later
    /// deliveries of older numbers are marked.
    void flush_at(std::uint32_t number);

    [[nodiscard]] LineCounters& counters() { return counters_; }

    [[nodiscard]] StreamCounters& counters(Stream stream) { return state_of(stream).counters; }

    /// Cold. What was declared lost and not found, in order; a range that spans the wrap is two.
    [[nodiscard]] std::vector<NumberRange> gaps() const;

    /// The next number expected; 0 before the first block.
    [[nodiscard]] std::uint32_t expected() const {
        return epochs_.current().numbered ? expected_number_ : 0;
    }

    /// The latest stamp of what came before the next number expected, in its numbering; 0: not
    /// known.
    [[nodiscard]] std::int64_t reached_ts_ns() const {
        return newest_ts_ns_ == no_ts ? 0 : newest_ts_ns_;
    }

  private:
    static constexpr std::uint64_t no_number = ~std::uint64_t{0};
    static constexpr std::int64_t no_ts = ArbiterSink::no_ts_ns;
    static constexpr std::int64_t any_ts_ns = ArbiterSink::any_ts_ns;

    /// What a stream's latest blocks look like, unless the next ones refute it (see
    /// arbiter_missed_reset.cpp).
    struct Suspicion {
        enum class Of : std::uint8_t { nothing, missed_reset, repeated_reset, repeated_blocks };
        Of of = Of::nothing;
        std::uint32_t next_number = 0;  ///< what would confirm it
        std::uint8_t needed = 0;        ///< blocks that must still follow
        /// missed_reset: of the newest block suspected; repeated_reset: of the newest before it.
        std::int64_t bound_ts_ns = no_ts;
        std::int64_t believe_at_ns = never_ns;  ///< missed_reset: unless refuted by then
    };

    /// What admit() touches fills the first cache line, the rest stands behind it.
    struct alignas(64) StreamState {
        bool fast = false;                  ///< nothing about it needs the slow path
        std::uint32_t next_number = 0;      ///< behind its latest data block; 0: none yet
        std::int64_t newest_ts_ns = no_ts;  ///< of its data in its epoch
        StreamCounters counters;
        EpochIndex epoch = 0;
        bool brought_reset = false;  ///< its own copy of the one that began its epoch
        Suspicion suspicion;
    };

    static_assert(offsetof(StreamState, counters) + sizeof(StreamCounters) <= 64);

    /// How a stream's capture begins, should it be played in a loop. Apart from StreamState: the
    /// fast path needs none of it.
    struct Beginning {
        FirstBlocks known;
        FirstBlocks behind_reset;  ///< old ones: how it begins, if the reset comes again as well
        FirstBlocks resets;        ///< starts of day and resets
    };

    [[nodiscard]] Beginning& beginning_of(Source source) {
        return beginnings_[static_cast<std::size_t>(source)];
    }

    /// A block, or a part of one, on its way through the slow path.
    struct Arrival {
        const Block& block;
        unsigned first;  ///< of its messages, those concerned: first .. last-1
        unsigned last;
        Source source;
        std::int64_t now_ns;
        ArbiterSink& sink;

        [[nodiscard]] bool original() const { return source != Source::repair; }
    };

    /// A range of numbers in one state.
    struct Run {
        enum class State : std::uint8_t {
            done,   ///< delivered, waiting, or from before the start
            lost,   ///< declared so
            fresh,  ///< neither heard of nor given up
        };
        State state;
        Position begin;
        Position end;
    };

    struct Placement {
        EpochIndex epoch;
        Position base;  ///< of the block's first message

        [[nodiscard]] unsigned index_of(Position position) const {
            return static_cast<unsigned>(position - base);
        }
    };

    [[nodiscard]] StreamState& state_of(Stream stream) {
        return streams_[static_cast<std::size_t>(stream)];
    }

    [[nodiscard]] const StreamState& state_of(Stream stream) const {
        return streams_[static_cast<std::size_t>(stream)];
    }

    void follow(const Block& block, Stream stream, StreamCount became);

    [[nodiscard]] StreamState& state_of(const Arrival& arrival) {
        return streams_[static_cast<std::size_t>(arrival.source)];
    }

    // arbiter.cpp: numbers
    [[nodiscard]] std::int64_t first_stamp_of(const Block& block, const ArbiterSink& sink);
    void process(const Arrival& arrival);
    void on_data(const Arrival& arrival);
    void on_integrity(const Arrival& arrival);
    void on_repair(const Arrival& arrival);
    void start_numbering(const Block& block, std::uint32_t number);
    void place(const Arrival& arrival, EpochIndex epoch);
    void place_decodable(const Arrival& arrival, const Placement& at, const Run& run);
    void place_undecodable(const Arrival& arrival, const Placement& at, const Run& run);
    void place_repair(const Arrival& arrival, const Placement& at, const Run& run);
    void claim(const Arrival& arrival, const Placement& at, Position begin, Position end);
    [[nodiscard]] bool wait(const Arrival& arrival, const HoldEntry& entry, unsigned first);
    [[nodiscard]] bool extend_old_epoch(const Arrival& arrival, const Placement& at,
                                        const Run& run);
    void deliver_late(const Arrival& arrival, const Placement& at, const Run& run);
    void count_accepted(const Arrival& arrival, std::uint64_t messages);
    void count_useless(const Arrival& arrival, std::uint64_t messages);
    void learn(const Arrival& arrival, Position begin, Position end);
    static void note_missing(const Arrival& arrival, Position begin, Position end,
                             std::int64_t ts_before_ns);

    void declare_lost(Position begin, Position end, GapCause cause, std::int64_t ts_exchange_ns,
                      ArbiterSink& sink);
    [[nodiscard]] bool list_gap(Position begin, Position end, ArbiterSink& sink);
    void expire_first_hole(Position limit, ArbiterSink& sink);
    void expire_all(ArbiterSink& sink);
    void drain(ArbiterSink& sink);
    void deliver(const Block& block, unsigned first, unsigned count, Position begin,
                 DeliveryFlags flags, ArbiterSink& sink);
    void pass(Position end, const Block& block);
    void run_timers(std::int64_t now_ns, ArbiterSink& sink);
    void refresh();
    [[nodiscard]] std::int64_t deadline_after(std::int64_t arrival_ns) const;
    [[nodiscard]] Run run_at(EpochIndex epoch, Position position, Position end);
    [[nodiscard]] static bool precedes(const Block& block, const Epoch& epoch);
    [[nodiscard]] Position known_end() const;
    [[nodiscard]] std::int64_t known_ts_ns() const;
    [[nodiscard]] bool is_news(const Block& block) const;
    [[nodiscard]] DeliveryFlags late_flags(const Arrival& arrival, EpochIndex epoch,
                                           Position begin);

    // arbiter_resets.cpp: which epoch, and what a reset does
    [[nodiscard]] EpochIndex epoch_of(const Arrival& arrival);
    [[nodiscard]] bool leads_up_to_inferred(const Block& block);
    void lower_begin(Position begin, const Arrival& arrival);
    [[nodiscard]] EpochIndex epoch_by_ts(const Block& block, EpochIndex from);
    [[nodiscard]] EpochIndex epoch_of_repair(const Block& block);
    [[nodiscard]] bool belongs_to(const Block& block, const Epoch& epoch,
                                  const StreamState& stream) const;
    [[nodiscard]] Position end_of(const Epoch& epoch) const;
    static void join_epoch(StreamState& stream, EpochIndex epoch, bool brought_reset);
    void on_reset(const Arrival& arrival);
    void follow_reset(const Arrival& arrival);
    void apply_reset(const Arrival& arrival);
    void open_epoch(const Block& reset, bool inferred, ArbiterSink& sink);
    void set_aside_later_than(std::int64_t ts_ns, ArbiterSink& sink);
    [[nodiscard]] bool set_aside(const HoldEntry& entry);
    [[nodiscard]] static Forget forget_of(const ResetIdentity& reset, const Epoch& old,
                                          Position end);
    void lengthen(EpochIndex old, Position end, const Arrival& arrival);
    [[nodiscard]] bool is_late_copy(const ResetIdentity& reset, const StreamState& stream) const;
    [[nodiscard]] bool precedes_start(const Arrival& arrival);
    [[nodiscard]] bool has_come_to_start(const StreamState& stream);
    void note_reset_before_start(const Arrival& arrival);
    [[nodiscard]] bool precedes_inferred(const Arrival& arrival);
    [[nodiscard]] bool is_behind_epoch_before(const Block& reset);
    void adopt_reset(const Arrival& arrival);
    [[nodiscard]] bool leads_up_to(const StreamState& stream, std::int64_t reset_ts_ns) const;
    [[nodiscard]] bool is_within_current(const Block& reset) const;
    void note_late_reset(const Arrival& arrival);
    [[nodiscard]] bool precedes_reset(const Arrival& arrival);
    void note_overtaken_reset(const Arrival& arrival);
    void on_stale_reset(const Arrival& arrival);
    void suspect_loop(const Arrival& arrival);

    // arbiter_missed_reset.cpp: resets that no stream brought, or that look like old ones
    [[nodiscard]] bool suspect(const Arrival& arrival);
    [[nodiscard]] bool goes_on(const Arrival& arrival, Suspicion::Of of);
    [[nodiscard]] bool skips_from(const Suspicion& suspicion, const Block& block) const;
    [[nodiscard]] bool is_of_current(const Arrival& arrival);
    [[nodiscard]] Suspicion::Of looks_like(const Arrival& arrival);
    [[nodiscard]] bool looks_like_missed_reset(const Block& block) const;
    [[nodiscard]] bool looks_repeated(const Arrival& arrival);
    [[nodiscard]] bool is_numbered_as_reset(const Block& block);
    void note_beginning(const Arrival& arrival);
    void adopt_beginning(Source source);
    [[nodiscard]] bool has_set_aside(Source source) const;
    [[nodiscard]] bool has_set_aside(Source source, const Block& reset) const;
    [[nodiscard]] bool set_aside(const Arrival& arrival);
    [[nodiscard]] const HeldBlock* word_of_other(const Arrival& arrival) const;
    void confirm(const Arrival& arrival);
    void confirm_missed_reset(Source source, std::int64_t infer_at_ns);
    [[nodiscard]] std::int64_t believe_at_ns() const;
    void believe(std::int64_t now_ns, ArbiterSink& sink);
    void doubt_waiting(const Arrival& arrival, Position base);
    void refute(Source source, std::int64_t now_ns, ArbiterSink& sink);
    void infer_reset(std::int64_t now_ns, ArbiterSink& sink, std::int64_t until_ts_ns = any_ts_ns);
    [[nodiscard]] const HeldBlock* first_after_missed_reset() const;
    void process_set_aside(std::int64_t now_ns, ArbiterSink& sink,
                           std::int64_t until_ts_ns = any_ts_ns);
    void process_set_aside(HeldBlock* held, std::int64_t now_ns, ArbiterSink& sink);
    [[nodiscard]] HeldBlock* next_set_aside(std::int64_t until_ts_ns) const;
    void suspect_again(std::int64_t now_ns, ArbiterSink& sink, std::int64_t until_ts_ns);
    void suspect_again(const HeldBlock& held, std::int64_t now_ns, ArbiterSink& sink);
    [[nodiscard]] std::uint64_t brought() const;
    [[nodiscard]] bool suspecting() const;

    // What the fast path touches: one cache line, the first two counters included, one of the
    // stream, and two of recent_ (its count and one beginning). Lines take turns packet by packet,
    // so each cache line of their state is fetched anew.
    alignas(64) std::uint64_t in_order_ = no_number;     // the number that may be delivered at once
    std::uint32_t expected_number_ = 0;                  // E: of the position expected_
    std::uint32_t duplicates_from_ = ~std::uint32_t{0};  // all from here to E are delivered
    std::int64_t earliest_ts_ns_ = no_ts;                // an earlier one may be of an older epoch
    std::int64_t newest_ts_ns_ = no_ts;                  // of what moved E in this epoch
    Position turn_ = 2 * numbers_per_turn;  // the position of E is turn_ + expected_number_
    LineCounters counters_;
    std::array<StreamState, streams_count> streams_;

    std::int64_t window_ns_;
    std::int64_t next_deadline_ns_ = never_ns;
    EpochHistory epochs_;
    GapSet gaps_;
    HoldArena arena_;
    HoldQueue queue_;
    Position flushed_to_ = 0;  // older numbers are from before the latest flush of quotes
    Position delivering_ = 0;  // first position of what the sink is being given; 0: nothing

    std::array<Beginning, streams_count> beginnings_;
    HoldArena aside_;  // blocks whose epoch is not yet known
    std::uint64_t brought_aside_ = 0;
    bool confirmed_ = false;  // a reset was missed: waits for the other stream to bring it
    bool processing_aside_ = false;
    Source confirmed_by_ = Source::a;
    std::int64_t confirmed_ts_ns_ = 0;  // of the first block behind the missed reset
    std::int64_t infer_at_ns_ = never_ns;
    std::int64_t newest_reset_ts_ns_ = no_ts;
    RecentBlocks recent_;

    [[nodiscard]] Position expected_position() const { return turn_ + expected_number_; }

    void expect(Position position) {
        turn_ = turn_of(position);
        expected_number_ = number_at(position);
    }
};

inline Verdict Arbiter::foresee(const Block& block, Stream stream) const {
    const std::uint64_t next = std::uint64_t{block.sequence} + block.messages;
    const bool plain = state_of(stream).fast && !block.retransmitted && block.messages != 0 &&
                       block.ts_exchange_ns >= earliest_ts_ns_ && next <= numbers_per_turn;
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

inline void Arbiter::take_next(const Block& block, Stream stream) {
    const std::uint64_t next = std::uint64_t{block.sequence} + block.messages;
    in_order_ = next;
    expected_number_ = static_cast<std::uint32_t>(next);
    newest_ts_ns_ = std::max(newest_ts_ns_, block.ts_exchange_ns);
    counters_.bump(LineCount::highest, block.messages);
    counters_.bump(LineCount::delivered, block.messages);
    recent_.note(block);
    follow(block, stream, StreamCount::accepted);
}

inline void Arbiter::take_duplicate(const Block& block, Stream stream) {
    follow(block, stream, StreamCount::duplicate);
}

inline void Arbiter::follow(const Block& block, Stream stream, StreamCount became) {
    StreamState& state = state_of(stream);
    state.next_number = block.sequence + block.messages;
    state.newest_ts_ns = block.ts_exchange_ns;
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
