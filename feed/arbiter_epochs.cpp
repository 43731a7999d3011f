// path: hot
//
// Which epoch a block belongs to, and what a reset does.
//
// No document says how to tell the second copy of a reset from a new reset, or old data from new.
// What is used here: both copies are stamped alike, and blocks are stamped in the order of their
// numbers. So a block stamped before the reset is of the epoch before it, one stamped later is of
// the new one, and a stream that shows a later stamp without having brought the reset has lost its
// copy. Where stamps are equal, continuity with the stream's own numbers decides. A capture played
// in a loop repeats its stamps; it is noticed by its first block (stamped before the reset, yet
// numbered as the reset said), and from then on continuity decides alone.
#include "config/check.h"
#include "feed/arbiter.h"

namespace pinstrike::feed {

namespace {

/// How far a stream's blocks may be out of order, in messages, and still be taken for its own.
constexpr std::uint64_t reorder_messages = 256;
/// How far behind the other a stream may be where numbers alone must tell.
constexpr std::uint64_t lag_messages = 65536;
/// A K with 1 within so many numbers of the wrap is the rollover, not a cold restart (spec e).
constexpr std::uint64_t rollover_messages = 1 << 20;

std::uint64_t distance(Position a, Position b) {
    return a < b ? b - a : a - b;
}

/// The number that a block's own number, or a control's word about the next, stands for.
std::uint32_t number_of(const Block& block) {
    switch (block.role) {
        case BlockRole::data:
            return block.sequence;
        case BlockRole::start_of_day:
            return 1;
        default:
            return number_after(block.sequence);
    }
}

}  // namespace

/// Behind the last number of the epoch that was delivered or given up.
Position Arbiter::end_of(const Epoch& epoch) const {
    return &epoch == &epochs_.current() ? expected_position() : epoch.end;
}

void Arbiter::join_epoch(StreamState& stream, EpochIndex epoch) {
    stream.epoch = epoch;
    stream.next_number = 0;
    stream.newest_ts_ns = no_ts;
}

/// The epoch of a data or line integrity block. Moves the stream into a newer epoch if the block
/// shows that its copy of the reset was lost.
EpochIndex Arbiter::epoch_of(const Arrival& arrival) {
    StreamState& stream = state_of(arrival);
    if (stream.epoch == epochs_.current_index()) {
        return epoch_if_reordered(arrival.block);
    }
    if (stream.epoch < epochs_.oldest_index()) {
        join_epoch(stream, epochs_.oldest_index());
    }
    for (EpochIndex i = epochs_.current_index(); i > stream.epoch; --i) {
        if (belongs_to(arrival.block, epochs_.at(i), stream)) {
            counters_.bump(LineCount::streams_realigned);
            join_epoch(stream, i);
            break;
        }
    }
    return stream.epoch;
}

/// Whether a block of a stream that is behind this epoch belongs to it.
bool Arbiter::belongs_to(const Block& block, const Epoch& epoch, const StreamState& stream) const {
    if (!epoch.repeats && block.ts_exchange_ns != epoch.begin_ts_ns) {
        return block.ts_exchange_ns > epoch.begin_ts_ns;
    }
    const std::uint32_t number = number_of(block);
    if (number == stream.next_number) {
        return false;
    }
    const Position end = end_of(epoch);
    const Position position = nearest(end, number);
    const bool fits = position >= epoch.begin && position <= end + lag_messages;
    if (!epoch.repeats) {
        return fits;
    }
    const Position own = stream.next_number == 0 ? position : nearest(end, stream.next_number);
    return fits && distance(own, position) > reorder_messages;
}

/// A stream that brought the reset may still bring blocks from before it, out of order.
EpochIndex Arbiter::epoch_if_reordered(const Block& block) {
    const EpochIndex index = epochs_.current_index();
    Epoch& current = epochs_.current();
    if (index == 0 || current.repeats || block.ts_exchange_ns >= current.begin_ts_ns) {
        return index;
    }
    if (block.role != BlockRole::data || !current.by_reset) {
        return index - 1;
    }
    const Epoch& before = epochs_.at(index - 1);
    const Position end = nearest(before.end + reorder_messages, block.sequence) + block.messages;
    const bool near_before =
        before.numbered && distance(before.end, end) <= reorder_messages + block.messages;
    const bool lacking =
        near_before && (end > before.end || gaps_.touches(end - block.messages, end));
    const Position position = nearest(expected_position(), block.sequence);
    const bool near_current =
        position >= current.begin && position <= expected_position() + reorder_messages;
    if (!lacking && (position == expected_position() || (near_current && !near_before))) {
        current.repeats = true;
        return index;
    }
    return index - 1;
}

/// By its stamp; where that is no help, the epoch in which it finds something missing.
EpochIndex Arbiter::epoch_of_repair(const Block& block) {
    const EpochIndex current = epochs_.current_index();
    for (EpochIndex i = current; i > epochs_.oldest_index(); --i) {
        const Epoch& epoch = epochs_.at(i);
        if (!epoch.repeats && block.ts_exchange_ns < epoch.begin_ts_ns) {
            continue;
        }
        const Position begin = nearest(end_of(epoch), block.sequence);
        const Position end = begin + block.messages;
        const bool clear = !epoch.repeats && block.ts_exchange_ns > epoch.begin_ts_ns;
        const bool open = i == current && end > expected_position() && begin < known_end();
        if (clear || open || gaps_.touches(begin, end)) {
            return i;
        }
    }
    return epochs_.oldest_index();
}

/// A start of day or reset, of an original.
void Arbiter::on_reset(const Arrival& arrival) {
    StreamState& stream = state_of(arrival);
    const ResetIdentity identity = ResetIdentity::of(arrival.block);
    Epoch& current = epochs_.current();
    if (const EpochIndex begun = epochs_.begun_by(identity, stream.epoch); begun != 0) {
        counters_.bump(LineCount::resets_repeated);
        return join_epoch(stream, begun);
    }
    const std::int64_t ts_ns = identity.ts_exchange_ns;
    const bool in_current = stream.epoch == epochs_.current_index();
    if (current.by_reset && current.reset == identity) {
        // Again, from a stream that is in its epoch: a duplicate, unless blocks that are stamped
        // before the reset came behind it. Then a loop has come round.
        if (in_current && current.repeats && stream.newest_ts_ns != no_ts &&
            stream.newest_ts_ns <= ts_ns) {
            return apply_reset(arrival);
        }
        return on_stale_reset(arrival);
    }
    if (current.has_late_reset && current.late_reset == identity) {
        counters_.bump(LineCount::resets_repeated);
    } else if (precedes_start(arrival)) {
        adopt_reset(arrival);
    } else if (is_late_raise(arrival)) {
        note_late_raise(arrival);
    } else if (current.numbered && (ts_ns < current.begin_ts_ns || ts_ns < newest_ts_ns_)) {
        on_stale_reset(arrival);
    } else {
        apply_reset(arrival);
    }
}

void Arbiter::apply_reset(const Arrival& arrival) {
    counters_.bump(LineCount::resets);
    open_epoch(arrival.block, false, arrival.now_ns, arrival.sink);
    join_epoch(state_of(arrival), epochs_.current_index());
    process_set_aside(arrival.now_ns, arrival.sink);
}

/// Ends the current epoch and begins the next. What is missing of the old one is given up before
/// the reset is told; it may still come late.
void Arbiter::open_epoch(const Block& reset, bool inferred, std::int64_t now_ns,
                         ArbiterSink& sink) {
    const ResetIdentity identity = ResetIdentity::of(reset);
    const bool repeats =
        !inferred && (reset.ts_exchange_ns < newest_reset_ts_ns_ || epochs_.knows(identity));
    if (!repeats && !inferred) {
        set_aside_later_than(reset.ts_exchange_ns);
    }
    expire_all(now_ns, sink);
    const Forget forget = inferred ? Forget::quotes : forget_of(reset);
    const Position end = expected_position();
    epochs_.current().end = end;

    Epoch& epoch = epochs_.open();
    epoch.begin = turn_of(end) + 2 * numbers_per_turn + number_of(reset);
    epoch.numbered = true;
    epoch.repeats = repeats;
    epoch.by_reset = !inferred;
    epoch.inferred = inferred;
    epoch.forget = forget;
    epoch.reset = identity;
    epoch.begin_ts_ns = epoch.first_ts_ns = reset.ts_exchange_ns;
    expect(epoch.begin);
    newest_ts_ns_ = repeats ? no_ts : reset.ts_exchange_ns;
    newest_reset_ts_ns_ = std::max(newest_reset_ts_ns_, reset.ts_exchange_ns);
    sink.reset(reset, forget, inferred);
}

/// Blocks that wait although they are stamped later than the reset: the stream that brought them
/// had lost it. They are placed again once the new epoch is open.
void Arbiter::set_aside_later_than(std::int64_t ts_ns) {
    const Position known = known_end();
    queue_.remove_if([this, ts_ns](const HoldEntry& entry) {
        HeldBlock& held = *entry.held;
        if (held.block.ts_exchange_ns <= ts_ns || entry.kind == HoldEntry::Kind::undecodable ||
            aside_.keep(held.block, held.first, held.last, held.source, held.arrival_ns) ==
                nullptr) {
            return false;
        }
        Counter& accepted = held.source == Source::repair
                                ? counters_.at(LineCount::repaired)
                                : streams_[static_cast<std::size_t>(held.source)].counters.at(
                                      StreamCount::accepted);
        accepted.set(accepted.read() - (entry.end - entry.begin));
        arena_.release(&held);
        return true;
    });
    Counter& highest = counters_.at(LineCount::highest);
    highest.set(highest.read() - (known - known_end()));
}

/// What this reset, applied now that the old epoch is complete, makes consumers forget.
Forget Arbiter::forget_of(const Block& reset) const {
    if (reset.role == BlockRole::start_of_day) {
        return Forget::day;
    }
    const Epoch& current = epochs_.current();
    const std::uint32_t last = expected_number_ - 1;  // E is 1 behind the wrap: no reset lowers it
    if (!current.numbered || reset.sequence >= last) {
        return Forget::nothing;
    }
    const bool wrapped_lately = turn_of(current.begin) < turn_ && last < rollover_messages;
    const bool near_wrap = last > numbers_per_turn + 1 - rollover_messages || wrapped_lately;
    return reset.sequence == 1 && near_wrap ? Forget::nothing : Forget::quotes;
}

/// The current epoch began without its reset (the program started in mid-day, or a reset was
/// inferred), and this is the slower stream's copy of one from before that beginning.
bool Arbiter::precedes_start(const Arrival& arrival) {
    const Epoch& current = epochs_.current();
    const StreamState& stream = state_of(arrival);
    const std::int64_t ts_ns = arrival.block.ts_exchange_ns;
    if (!current.numbered || current.by_reset || ts_ns > current.first_ts_ns) {
        return false;
    }
    const Position begin = nearest(current.begin, number_of(arrival.block));
    const bool exact = begin == current.begin;
    if (begin > current.begin || (ts_ns == current.first_ts_ns && !(current.inferred && exact))) {
        return false;
    }
    const bool has_later = stream.epoch == epochs_.current_index() && stream.newest_ts_ns > ts_ns;
    return exact || !has_later;
}

/// An inferred epoch then is known to have begun earlier: what is between may still come late. In
/// mid-day it is from before the start.
void Arbiter::adopt_reset(const Arrival& arrival) {
    const Block& block = arrival.block;
    Epoch& current = epochs_.current();
    counters_.bump(LineCount::resets);
    current.by_reset = true;
    current.reset = ResetIdentity::of(block);
    current.begin_ts_ns = block.ts_exchange_ns;
    newest_reset_ts_ns_ = std::max(newest_reset_ts_ns_, block.ts_exchange_ns);
    const Position begin = nearest(current.begin, number_of(block));
    Forget forget = Forget::nothing;
    if (current.inferred) {
        if (begin < current.begin && current.begin - begin <= rollover_messages) {
            counters_.bump(LineCount::highest, current.begin - begin);
            declare_lost(begin, current.begin, GapCause::line, arrival);
            current.begin = begin;
        }
        if (block.role == BlockRole::start_of_day) {
            forget = current.forget = Forget::day;
        }
    }
    arrival.sink.reset(block, forget, false);
    join_epoch(state_of(arrival), epochs_.current_index());
}

/// A reset that raised the numbers, lost on the faster stream: what it skipped has been declared
/// lost, and what is behind it delivered. Nothing is left to do but to tell it.
bool Arbiter::is_late_raise(const Arrival& arrival) {
    const Epoch& current = epochs_.current();
    const StreamState& stream = state_of(arrival);
    const std::int64_t ts_ns = arrival.block.ts_exchange_ns;
    const bool has_later = stream.epoch == epochs_.current_index() && stream.newest_ts_ns > ts_ns;
    if (!current.numbered || current.repeats || has_later ||
        arrival.block.role != BlockRole::reset || ts_ns < current.begin_ts_ns ||
        ts_ns >= newest_ts_ns_) {
        return false;
    }
    const Position next = nearest(expected_position(), number_of(arrival.block));
    return next > current.begin && next <= expected_position();
}

void Arbiter::note_late_raise(const Arrival& arrival) {
    Epoch& current = epochs_.current();
    counters_.bump(LineCount::resets);
    current.late_reset = ResetIdentity::of(arrival.block);
    current.has_late_reset = true;
    arrival.sink.reset(arrival.block, Forget::nothing, false);
}

/// Older than what it would reset. A duplicate, or a copy that lost its way; but if the stream goes
/// on from it, then time itself began anew (a capture in a loop).
void Arbiter::on_stale_reset(const Arrival& arrival) {
    StreamState& stream = state_of(arrival);
    const std::uint32_t next = number_of(arrival.block);
    counters_.bump(epochs_.knows(ResetIdentity::of(arrival.block)) ? LineCount::resets_repeated
                                                                   : LineCount::resets_stale);
    const bool has_data = stream.epoch == epochs_.current_index() && stream.newest_ts_ns != no_ts;
    if (confirmed_ || !has_data || stream.next_number == next) {
        return;
    }
    refute(arrival.source, arrival.now_ns, arrival.sink);
    if (set_aside(arrival)) {
        stream.suspicion = {.next_number = next, .needed = 2, .has_reset = true};
    }
}

}  // namespace pinstrike::feed
