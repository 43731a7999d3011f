// path: hot
//
// Which epoch a block belongs to, and what a reset does.
//
// No document says how to tell the second copy of a reset from a new reset, or old data from new.
// What is used here: both copies are stamped alike, and blocks are stamped in the order of their
// numbers. So a block stamped before the reset is of the epoch before it, one stamped later is of
// the new one, and a stream that shows a later stamp without having brought the reset has lost its
// copy. Where stamps are equal, continuity with the stream's own numbers decides. A capture played
// in a loop repeats its stamps; once that is noticed (arbiter_missed_reset.cpp), continuity decides
// alone.
#include "config/check.h"
#include "feed/arbitration/arbiter.h"

#include <algorithm>

namespace pinstrike::feed {

namespace {

/// Where numbers alone must tell two epochs apart, they are at least so far apart.
constexpr std::uint64_t reorder_messages = 256;
/// How far behind the other a stream may be where numbers alone must tell.
constexpr std::uint64_t lag_messages = 65536;
/// From one epoch to the next, so that those that turn out to be between find room.
constexpr Position epoch_positions = 16 * Position{numbers_per_turn};
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

/// In a loop, whose stamps do not compare with those of the turn before: the stream's own data of
/// this numbering are from before a reset that is stamped so.
inline bool Arbiter::leads_up_to(const StreamState& stream, std::int64_t reset_ts_ns) const {
    return stream.newest_ts_ns != no_ts && stream.newest_ts_ns <= reset_ts_ns &&
           stream.epoch == epochs_.current_index() && epochs_.current().repeats;
}

/// Behind the last number of the epoch that was delivered or given up.
Position Arbiter::end_of(const Epoch& epoch) const {
    return &epoch == &epochs_.current() ? expected_position() : epoch.end;
}

void Arbiter::join_epoch(StreamState& stream, EpochIndex epoch, bool brought_reset) {
    stream.epoch = epoch;
    stream.brought_reset = brought_reset;
    stream.next_number = 0;
    stream.newest_ts_ns = no_ts;
}

/// The epoch of a data or line integrity block. Moves the stream into a newer epoch if the block
/// shows that its copy of the reset was lost.
EpochIndex Arbiter::epoch_of(const Arrival& arrival) {
    StreamState& stream = state_of(arrival);
    if (leads_up_to_inferred(arrival.block)) {
        lower_begin(nearest(epochs_.current().begin, arrival.block.sequence), arrival);
        epochs_.current().begin_ts_ns = arrival.block.ts_exchange_ns;
    }
    if (stream.epoch < epochs_.oldest_index()) {
        join_epoch(stream, epochs_.oldest_index(), false);
    }
    for (EpochIndex i = epochs_.current_index(); i > stream.epoch; --i) {
        if (belongs_to(arrival.block, epochs_.at(i), stream)) {
            counters_.bump(LineCount::streams_realigned);
            join_epoch(stream, i, false);
            return i;
        }
    }
    return epoch_by_ts(arrival.block, stream.epoch);
}

/// The current epoch was inferred, and this block, stamped between its first and the last of the
/// epoch before, is numbered just before it: the other stream had lost it.
bool Arbiter::leads_up_to_inferred(const Block& block) {
    const Epoch& current = epochs_.current();
    if (!current.inferred || current.by_reset || block.role != BlockRole::data ||
        block.ts_exchange_ns >= current.begin_ts_ns ||
        block.ts_exchange_ns <= epochs_.at(epochs_.current_index() - 1).newest_ts_ns) {
        return false;
    }
    const Position position = nearest(current.begin, block.sequence);
    return position < current.begin && current.begin - position <= lag_messages;
}

/// More numbers of the current epoch are known to have existed, before its first.
void Arbiter::lower_begin(Position begin, const Arrival& arrival) {
    Epoch& current = epochs_.current();
    counters_.bump(LineCount::highest, current.begin - begin);
    arrival.sink.missing(begin, current.begin, arrival.block.ts_exchange_ns, current.first_ts_ns);
    declare_lost(begin, current.begin, GapCause::line, arrival.block.ts_exchange_ns, arrival.sink);
    current.begin = begin;
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

/// The newest epoch, `from` or older, that does not begin after the block: a stream that brought a
/// reset may still bring blocks from before it, out of order.
EpochIndex Arbiter::epoch_by_ts(const Block& block, EpochIndex from) {
    while (from > epochs_.oldest_index() && precedes(block, epochs_.at(from))) {
        --from;
    }
    return from;
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
    follow_reset(arrival);
    beginning_of(arrival.source).resets.note(arrival.block);
}

void Arbiter::follow_reset(const Arrival& arrival) {
    StreamState& stream = state_of(arrival);
    const ResetIdentity identity = ResetIdentity::of(arrival.block);
    Epoch& current = epochs_.current();
    if (const EpochIndex begun = epochs_.begun_by(identity, stream.epoch); begun != 0) {
        counters_.bump(LineCount::resets_repeated);
        return join_epoch(stream, begun, true);
    }
    if (is_late_copy(identity, stream)) {
        counters_.bump(LineCount::resets_repeated);
        return join_epoch(stream, epochs_.current_index(), true);
    }
    const std::int64_t ts_ns = identity.ts_exchange_ns;
    const bool in_current = stream.epoch == epochs_.current_index();
    if (current.by_reset && current.reset == identity) {
        // Again, from a stream that is in its epoch: a duplicate, unless blocks that are stamped
        // before the reset came behind it. Then a loop has come round.
        if (in_current && stream.suspicion.of == Suspicion::Of::repeated_blocks &&
            stream.suspicion.needed == 1) {
            confirm(arrival);
        }
        adopt_beginning(arrival.source);
        return leads_up_to(stream, ts_ns) ? apply_reset(arrival) : on_stale_reset(arrival);
    }
    if (current.has_told_late(identity)) {
        counters_.bump(LineCount::resets_repeated);
        if (epochs_.current_index() == 0 && ts_ns < current.begin_ts_ns &&
            has_come_to_start(stream)) {
            suspect_loop(arrival);
        }
    } else if (precedes_start(arrival)) {
        note_reset_before_start(arrival);
    } else if (precedes_inferred(arrival)) {
        adopt_reset(arrival);
    } else if (is_within_current(arrival.block)) {
        note_late_reset(arrival);
    } else if (precedes_reset(arrival)) {
        note_overtaken_reset(arrival);
    } else if (current.numbered && !leads_up_to(stream, ts_ns) &&
               (ts_ns < current.begin_ts_ns || ts_ns < newest_ts_ns_)) {
        on_stale_reset(arrival);
    } else {
        apply_reset(arrival);
        // What had been set aside came before it: the stream itself goes on from the reset.
        join_epoch(stream, epochs_.current_index(), true);
    }
}

void Arbiter::apply_reset(const Arrival& arrival) {
    while (confirmed_ && confirmed_ts_ns_ < arrival.block.ts_exchange_ns) {
        // One was missed before this one, or more.
        infer_reset(arrival.now_ns, arrival.sink, arrival.block.ts_exchange_ns);
    }
    counters_.bump(LineCount::resets);
    open_epoch(arrival.block, false, arrival.sink);
    for (const Source source : {Source::a, Source::b}) {
        StreamState& stream = streams_[static_cast<std::size_t>(source)];
        // The other stream may have brought it already, and be suspected of a loop as well.
        if (source == arrival.source || (stream.suspicion.of == Suspicion::Of::repeated_reset &&
                                         has_set_aside(source, arrival.block))) {
            join_epoch(stream, epochs_.current_index(), true);
        }
    }
    process_set_aside(arrival.now_ns, arrival.sink);
}

/// Ends the current epoch and begins the next. What is missing of the old one is given up before
/// the reset is told; it may still come late.
void Arbiter::open_epoch(const Block& reset, bool inferred, ArbiterSink& sink) {
    const ResetIdentity identity = ResetIdentity::of(reset);
    const bool repeats =
        !inferred && (reset.ts_exchange_ns < newest_reset_ts_ns_ || epochs_.knows(identity));
    if (!repeats && !inferred) {
        set_aside_later_than(reset.ts_exchange_ns, sink);
    }
    expire_all(sink);
    const Position end = expected_position();
    const Forget forget = !inferred             ? forget_of(identity, epochs_.current(), end)
                          : sink.start_is_due() ? Forget::day
                                                : Forget::quotes;
    epochs_.current().end = end;
    epochs_.current().newest_ts_ns = newest_ts_ns_;

    for (Beginning& beginning : beginnings_) {
        beginning.behind_reset.clear();
    }
    recent_.clear();
    Epoch& epoch = epochs_.open();
    epoch.begin = turn_of(end) + epoch_positions + number_of(reset);
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
/// had lost it. They are placed again once the new epoch is open; what of them cannot be decoded is
/// declared lost again there, so here it is taken back.
void Arbiter::set_aside_later_than(std::int64_t ts_ns, ArbiterSink& sink) {
    const Position known = known_end();
    queue_.remove_if([this, ts_ns, &sink](const HoldEntry& entry) {
        if (entry.held->block.ts_exchange_ns <= ts_ns || !set_aside(entry)) {
            return false;
        }
        if (entry.begin != entry.end) {
            sink.missing(entry.begin, entry.end, newest_ts_ns_, ts_ns);
        }
        if (entry.kind == HoldEntry::Kind::undecodable) {
            sink.gap(number_at(entry.begin), number_at(entry.end - 1), entry.end - entry.begin,
                     GapCause::repaired, entry.held->block.ts_exchange_ns);
        }
        arena_.release(entry.held);
        return true;
    });
    if (known_end() != known) {
        sink.found(known_end(), known);  // they are not known to have existed any more
    }
    Counter& highest = counters_.at(LineCount::highest);
    highest.set(highest.read() - (known - known_end()));
}

/// Undoes what was counted of an entry that is in the wrong epoch; it is counted again in its own.
/// False if that cannot be: an undecodable one, found elsewhere since, or for want of memory.
bool Arbiter::set_aside(const HoldEntry& entry) {
    const HeldBlock& held = *entry.held;
    const std::uint64_t messages = entry.end - entry.begin;
    const auto reduce = [messages](Counter& counter) { counter.set(counter.read() - messages); };
    HeldBlock* copy = aside_.keep(held.block, held.first, held.last, held.source, held.arrival_ns);
    if (copy == nullptr) {
        return false;
    }
    if (entry.kind == HoldEntry::Kind::undecodable) {
        if (!gaps_.holds(entry.begin, entry.end) || !gaps_.remove(entry.begin, entry.end)) {
            aside_.release(copy);
            return false;
        }
        reduce(counters_.at(LineCount::lost));
        reduce(state_of(static_cast<Stream>(held.source)).counters.at(StreamCount::rejected));
    } else if (held.source == Source::repair) {
        reduce(counters_.at(LineCount::repaired));
    } else {
        reduce(state_of(static_cast<Stream>(held.source)).counters.at(StreamCount::accepted));
    }
    return true;
}

/// What this reset makes consumers forget, where it follows an epoch that ended here.
Forget Arbiter::forget_of(const ResetIdentity& reset, const Epoch& old, Position end) {
    if (reset.role == BlockRole::start_of_day) {
        return Forget::day;
    }
    if (!old.numbered) {
        return Forget::nothing;
    }
    const std::uint32_t last = number_at(end) - 1;  // E is 1 behind the wrap: no reset lowers it
    if (reset.sequence >= last) {
        return Forget::nothing;
    }
    // The rollover: numbers go on over the wrap. A 1 behind a bare wrap is no rollover any more:
    // the numbers after it would be taken for those before it.
    const bool rollover = reset.sequence == 1 && last > numbers_per_turn + 1 - rollover_messages;
    return rollover ? Forget::nothing : Forget::quotes;
}

/// An epoch that is over turns out to have gone on to here. The reset behind it may then have
/// lowered the numbers although it had not seemed to: so it is told once more, and what comes late
/// of before it is marked.
void Arbiter::lengthen(EpochIndex old, Position end, const Arrival& arrival) {
    const bool quotes_stand = epochs_.has_unforgotten(old);
    epochs_.at(old).end = end;
    Epoch& next = epochs_.at(old + 1);
    const Forget forget =
        next.by_reset ? forget_of(next.reset, epochs_.at(old), end) : Forget::nothing;
    const bool is_more = forget > epochs_.forgotten_since(old);
    next.forget = std::max(next.forget, forget);
    if (is_more && quotes_stand) {
        flushed_to_ = std::max(flushed_to_, expected_position());
        Block reset;
        reset.role = next.reset.role;
        reset.sequence = next.reset.sequence;
        reset.messages = reset.decodable = 1;
        reset.session = arrival.block.session;
        reset.ts_exchange_ns = next.reset.ts_exchange_ns;
        reset.ts_receive_ns = arrival.block.ts_receive_ns;
        arrival.sink.reset(reset, forget, false);
    }
}

/// The stream's first copy of the reset that began the current epoch, which the stream had joined
/// by later blocks. It may go on behind the reset with what is old: packets in disorder, no loop.
bool Arbiter::is_late_copy(const ResetIdentity& reset, const StreamState& stream) const {
    const Epoch& current = epochs_.current();
    return current.by_reset && !current.repeats && current.reset == reset &&
           stream.epoch == epochs_.current_index() && !stream.brought_reset;
}

/// The program started in mid-day, and this is of before: of a stream that has not come so far, or
/// just before the first block heard.
bool Arbiter::precedes_start(const Arrival& arrival) {
    const StreamState& stream = state_of(arrival);
    const Epoch& first = epochs_.at(0);
    if (epochs_.oldest_index() != 0 || !first.numbered || stream.epoch != 0 ||
        arrival.block.ts_exchange_ns >= first.first_ts_ns ||
        first.has_told_late(ResetIdentity::of(arrival.block))) {
        return false;
    }
    return !has_come_to_start(stream) ||
           nearest(first.begin, number_of(arrival.block)) == first.begin;
}

/// Of a stream in the program's first epoch.
bool Arbiter::has_come_to_start(const StreamState& stream) {
    return stream.newest_ts_ns != no_ts && stream.newest_ts_ns >= epochs_.at(0).first_ts_ns;
}

/// Whether this reset began the numbering that is under way, or one before it, cannot be known; it
/// is only told.
void Arbiter::note_reset_before_start(const Arrival& arrival) {
    const ResetIdentity identity = ResetIdentity::of(arrival.block);
    counters_.bump(LineCount::resets);
    epochs_.at(0).note_told_late(identity);
    newest_reset_ts_ns_ = std::max(newest_reset_ts_ns_, identity.ts_exchange_ns);
    arrival.sink.reset(arrival.block, Forget::nothing, false);
}

/// The current epoch was inferred, and this is the slower stream's copy of the reset that began it.
bool Arbiter::precedes_inferred(const Arrival& arrival) {
    const Epoch& current = epochs_.current();
    const StreamState& stream = state_of(arrival);
    const std::int64_t ts_ns = arrival.block.ts_exchange_ns;
    if (!current.inferred || current.by_reset || ts_ns > current.first_ts_ns ||
        !is_behind_epoch_before(arrival.block)) {
        return false;
    }
    const Position begin = nearest(current.begin, number_of(arrival.block));
    const bool exact = begin == current.begin;
    if (begin > current.begin || (ts_ns == current.first_ts_ns && !exact)) {
        return false;
    }
    const bool has_later = stream.epoch == epochs_.current_index() && stream.newest_ts_ns > ts_ns;
    return exact || !has_later;
}

/// Whether this reset can have ended the epoch before the current one. One stamped before that
/// epoch is of a numbering further back, which the slower stream is still at; or it was told in it.
bool Arbiter::is_behind_epoch_before(const Block& reset) {
    const Epoch& before = epochs_.at(epochs_.current_index() - 1);
    const bool told = before.has_told_late(ResetIdentity::of(reset));
    return !told && (before.repeats || reset.ts_exchange_ns > before.begin_ts_ns);
}

/// The inferred epoch is known to have begun earlier: what is between may still come late.
void Arbiter::adopt_reset(const Arrival& arrival) {
    const Block& block = arrival.block;
    Epoch& current = epochs_.current();
    counters_.bump(LineCount::resets);
    current.by_reset = true;
    current.reset = ResetIdentity::of(block);
    newest_reset_ts_ns_ = std::max(newest_reset_ts_ns_, block.ts_exchange_ns);
    const Position begin = nearest(current.begin, number_of(block));
    current.begin_ts_ns = block.ts_exchange_ns;
    if (begin < current.begin && current.begin - begin <= rollover_messages) {
        lower_begin(begin, arrival);
    }
    Forget forget = Forget::nothing;
    if (block.role == BlockRole::start_of_day && current.forget != Forget::day) {
        forget = current.forget = Forget::day;
    }
    arrival.sink.reset(block, forget, false);
    join_epoch(state_of(arrival), epochs_.current_index(), true);
}

/// A reset that raised the numbers (or led over the wrap), lost on the faster stream: what it
/// skipped has been declared lost, and what is behind it delivered. Nothing is left to do but to
/// tell it.
bool Arbiter::is_within_current(const Block& reset) const {
    const Epoch& current = epochs_.current();
    const std::int64_t ts_ns = reset.ts_exchange_ns;
    if (!current.numbered || current.repeats || ts_ns < current.begin_ts_ns ||
        ts_ns >= newest_ts_ns_) {
        return false;
    }
    const Position next = nearest(expected_position(), number_of(reset));
    const bool began_again = current.by_reset && next == current.begin &&
                             reset.role == BlockRole::reset && ts_ns > current.begin_ts_ns;
    return (next > current.begin && next <= expected_position()) || began_again;
}

void Arbiter::note_late_reset(const Arrival& arrival) {
    const Block& block = arrival.block;
    Epoch& current = epochs_.current();
    const Position next = nearest(expected_position(), number_of(block));
    const bool wrapped = turn_of(next) > turn_of(current.begin);
    Forget forget = Forget::nothing;
    if (block.role == BlockRole::start_of_day) {
        forget = Forget::day;
    } else if (wrapped && block.sequence != 1) {
        forget = Forget::quotes;
    }
    if (forget != Forget::nothing) {
        flushed_to_ = std::max(flushed_to_, next);
    }
    counters_.bump(LineCount::resets);
    current.note_told_late(ResetIdentity::of(block));
    arrival.sink.reset(block, forget, false);
}

/// The faster stream lost this one, or brought it out of order, and the next one began the current
/// epoch.
bool Arbiter::precedes_reset(const Arrival& arrival) {
    const Epoch& current = epochs_.current();
    const EpochIndex index = epochs_.current_index();
    if (!current.by_reset || current.repeats || index == epochs_.oldest_index()) {
        return false;
    }
    const std::int64_t ts_ns = arrival.block.ts_exchange_ns;
    return ts_ns < current.begin_ts_ns && ts_ns > epochs_.at(index - 1).newest_ts_ns &&
           !epochs_.knows(ResetIdentity::of(arrival.block));
}

/// What it makes consumers forget is to be told, and what is behind it may still come late: so an
/// epoch is put before the current one, unless some of that came already and was taken for what
/// went on from the numbers before it.
void Arbiter::note_overtaken_reset(const Arrival& arrival) {
    const Block& block = arrival.block;
    const ResetIdentity identity = ResetIdentity::of(block);
    Epoch& current = epochs_.current();
    const EpochIndex index = epochs_.current_index() - 1;
    const Epoch& before = epochs_.at(index);
    // Of before the first block heard there is nothing to forget.
    const Forget forget =
        before.numbered ? forget_of(identity, before, before.end) : Forget::nothing;
    counters_.bump(LineCount::resets);
    current.note_told_late(identity);
    arrival.sink.reset(block, forget > current.forget ? forget : Forget::nothing, false);
    current.forget = std::max(current.forget, forget);
    const Position begin = turn_of(before.end) + 2 * numbers_per_turn + number_of(block);
    const bool mixed = std::ranges::any_of(streams_, [&](const StreamState& stream) {
        return stream.epoch == index && stream.newest_ts_ns > block.ts_exchange_ns;
    });
    if (before.numbered && !mixed && begin + numbers_per_turn < current.begin) {
        Epoch between;
        between.begin = between.end = begin;
        between.numbered = between.by_reset = true;
        between.forget = forget;
        between.reset = identity;
        between.begin_ts_ns = between.first_ts_ns = between.newest_ts_ns = block.ts_exchange_ns;
        const Epoch latest = current;
        epochs_.open() = latest;  // moves up
        epochs_.at(index + 1) = between;
        for (StreamState& stream : streams_) {
            stream.epoch += stream.epoch > index ? 1 : 0;
        }
        if (StreamState& stream = state_of(arrival); stream.epoch <= index) {
            join_epoch(stream, index + 1, true);
        }
    } else if (const Position next = turn_of(before.end) + number_of(block);
               before.numbered && next > before.end) {
        lengthen(index, next, arrival);  // it raised the numbers: what it skipped is not missing
    }
}

/// Older than what it would reset. A duplicate, or a copy that lost its way; and where the stream
/// had not brought it before, it only comes late, behind newer data.
void Arbiter::on_stale_reset(const Arrival& arrival) {
    counters_.bump(epochs_.knows(ResetIdentity::of(arrival.block)) ? LineCount::resets_repeated
                                                                   : LineCount::resets_stale);
    if (epochs_.current().repeats || beginning_of(arrival.source).resets.has(arrival.block)) {
        return suspect_loop(arrival);
    }
    state_of(arrival).newest_ts_ns = no_ts;  // its duplicate may come next: that is no loop either
}

/// An old reset; but if the stream goes on from it, then time itself began anew (a capture in a
/// loop). Not of a stream that has just brought what is later than all: packets in disorder.
void Arbiter::suspect_loop(const Arrival& arrival) {
    StreamState& stream = state_of(arrival);
    const std::uint32_t next = number_of(arrival.block);
    const bool has_data = stream.epoch == epochs_.current_index() && stream.newest_ts_ns != no_ts;
    const bool in_disorder = stream.suspicion.of == Suspicion::Of::missed_reset;
    if (confirmed_ || in_disorder || !has_data || stream.next_number == next) {
        return;
    }
    refute(arrival.source, arrival.now_ns, arrival.sink);
    if (set_aside(arrival)) {
        stream.suspicion = {Suspicion::Of::repeated_reset, next, 2, stream.newest_ts_ns};
    }
}

}  // namespace pinstrike::feed
