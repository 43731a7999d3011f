// path: mixed, cold: construction
#include "feed/arbitration/slow_path.h"

#include "config/check.h"

#include <algorithm>
#include <cstddef>

namespace pinstrike::feed {

// --- cold ---

SlowPath::SlowPath(ArbiterState& line, const ArbitrationConfig& config)
    : line_(line),
      loops_(line.sequencer, line.epochs, config.looped_captures),
      inference_(line, config.hold_bytes),
      corrections_(line),
      placer_(line, corrections_) {}

// --- hot: blocks by their role ---

void SlowPath::process(const Block& block, Stream stream, std::int64_t now_ns, ArbiterSink& sink) {
    step(now_ns, sink);
    const Source source =
        block.retransmitted ? Source::repair : static_cast<Source>(static_cast<int>(stream));
    Block stamped = block;
    const Arrival arrival{stamped, 0, block.messages, source, now_ns, sink};
    if (arrival.original() && block.role == BlockRole::data) {
        StreamState& state = line_.stream(stream);
        if (line_.epochs.is_of_current(block, state)) {
            stamped.ts_exchange_ns = first_stamp_of(block, sink);  // usually the block's own time
            line_.counters().bump(LineCount::copies_restamped,
                                  stamped.ts_exchange_ns != block.ts_exchange_ns ? 1 : 0);
        }
        state.counters.bump(StreamCount::messages, block.messages);
    }
    route(arrival);
    refresh();
    step(now_ns, sink);
}

/// The time of the first copy of this data block of the current epoch. If there is none, the block
/// is the first copy and is stored.
std::int64_t SlowPath::first_stamp_of(const Block& block, const ArbiterSink& sink) {
    if (const auto first = sink.ts_of_copy(line_.recent.starts(), block)) {
        return *first;
    }
    line_.recent.note(block);
    return block.ts_exchange_ns;
}

void SlowPath::route(const Arrival& arrival) {
    if (!arrival.original()) {
        return on_repair(arrival);
    }
    switch (arrival.block.role) {
        case BlockRole::data:
            return on_data(arrival);
        case BlockRole::line_integrity:
            return on_integrity(arrival);
        case BlockRole::start_of_day:
        case BlockRole::reset:
            return on_reset(arrival);
        case BlockRole::new_session:
            return on_new_session(arrival);
        case BlockRole::unnumbered:
            return on_unnumbered(arrival);
    }
}

void SlowPath::on_data(const Arrival& arrival) {
    if (arrival.block.sequence == 0 || arrival.block.sequence > line_.numbering().last) {
        line_.counters().bump(LineCount::invalid_sequence);
        line_.stream_of(arrival).counters.bump(StreamCount::rejected, arrival.block.messages);
        return;
    }
    if (arrival.last <= arrival.first || defer(arrival)) {
        return;
    }
    if (loops_.begins_anew(arrival) && line_.epochs.is_current(line_.stream_of(arrival).epoch)) {
        line_.epochs.current().repeats = true;
    }
    loops_.note_data(arrival);
    const EpochIndex index = join_epoch_of(arrival);
    if (line_.epochs.is_current(index)) {
        if (!line_.epochs.current().numbered) {
            start_numbering(arrival.block, arrival.block.sequence);
        }
        if (!replaying_ && !EpochTracker::precedes(arrival.block, line_.epochs.current())) {
            inference_.compare_with_held(arrival);
            if (!inference_.is_open()) {
                reject(arrival.now_ns, arrival.sink);  // only repairs can be deferred
            }
        }
    }
    placer_.place(arrival, index);
}

/// A line integrity control says which number was the last. It carries no message.
void SlowPath::on_integrity(const Arrival& arrival) {
    if (defer(arrival)) {
        return;
    }
    const EpochIndex index = join_epoch_of(arrival);
    const Epoch& epoch = line_.epochs.at(index);
    const bool is_current = line_.epochs.is_current(index);
    const std::uint64_t number = number_of(arrival.block, line_.numbering());
    if (!epoch.numbered) {
        if (is_current) {
            start_numbering(arrival.block, number);
        }
        return;
    }
    const Position end = line_.numbering().nearest(line_.epochs.end_of(epoch), number);
    if (EpochTracker::precedes(arrival.block, epoch)) {
        return;
    }
    if (is_current) {
        line_.sequencer.note_existence(arrival, end);
    } else if (end > epoch.end) {
        static_cast<void>(corrections_.extend(arrival, index, end, end));
    }
}

void SlowPath::on_repair(const Arrival& arrival) {
    if (arrival.block.role != BlockRole::data) {
        line_.counters().bump(LineCount::retransmitted_controls);
    } else if (arrival.block.sequence == 0 || line_.epochs.is_new(arrival.block)) {
        placer_.count_useless(arrival, arrival.last - arrival.first);
    } else {
        placer_.place(arrival, line_.epochs.epoch_of_repair(arrival.block));
    }
}

/// Delivers a copy of messages without numbers, also while numbered ones are held.
void SlowPath::on_unnumbered(const Arrival& arrival) {
    const Block& block = arrival.block;
    PINSTRIKE_CHECK(block.sequence == 0);
    const unsigned undecodable = block.messages - block.decodable;
    StreamCounters& counters = line_.stream_of(arrival).counters;
    counters.bump(StreamCount::messages, undecodable);
    counters.bump(StreamCount::rejected, undecodable);
    line_.counters().bump(LineCount::unnumbered, block.decodable);
    if (block.decodable != 0) {
        arrival.sink.deliver(block, 0, block.decodable, flag_unnumbered);
    }
}

/// Starts the numbering in the middle of a day. Earlier messages are neither known nor missing.
void SlowPath::start_numbering(const Block& block, std::uint64_t number) {
    const Position begin = 2 * line_.numbering().last + number;  // leaves space for earlier ones
    line_.epochs.start(begin, block.ts_exchange_ns);
    line_.sequencer.start(begin, block.ts_exchange_ns);
}

/// Moves the stream into a newer epoch if the block shows that its copy of the reset was lost.
EpochIndex SlowPath::join_epoch_of(const Arrival& arrival) {
    StreamState& stream = line_.stream_of(arrival);
    EpochTracker& epochs = line_.epochs;
    if (epochs.leads_up_to_inferred(arrival.block)) {
        corrections_.lower_begin(
            arrival, line_.numbering().nearest(epochs.current().begin, arrival.block.sequence));
        epochs.current().begin_ts_ns = arrival.ts_ns();
    }
    if (stream.epoch < epochs.history().oldest_index()) {
        stream.join(epochs.history().oldest_index(), false);
    }
    const EpochIndex index = epochs.epoch_of(arrival.block, stream);
    if (index > stream.epoch) {
        line_.counters().bump(LineCount::streams_realigned);
        stream.join(index, false);
    }
    return index;
}

// --- hot: resets ---

/// Processes a start of day or reset of a stream.
void SlowPath::on_reset(const Arrival& arrival) {
    follow_reset(arrival);
    loops_.note_reset(arrival);
}

void SlowPath::follow_reset(const Arrival& arrival) {
    EpochTracker& epochs = line_.epochs;
    StreamState& stream = line_.stream_of(arrival);
    switch (epochs.classify(arrival.block, stream)) {
        case ResetKind::second_copy:
            line_.counters().bump(LineCount::resets_repeated);
            return stream.join(
                epochs.history().begun_by(ResetIdentity::of(arrival.block), stream.epoch), true);
        case ResetKind::late_copy:
            line_.counters().bump(LineCount::resets_repeated);
            return stream.join(epochs.current_index(), true);
        case ResetKind::repeated:
            return on_repeated_reset(arrival);
        case ResetKind::known:
            return on_reset_message(arrival);
        case ResetKind::before_start:
            return corrections_.note_before_start(arrival);
        case ResetKind::of_inferred:
            return corrections_.adopt(arrival);
        case ResetKind::within:
            return corrections_.note_within(arrival);
        case ResetKind::overtaken:
            return corrections_.note_overtaken(arrival);
        case ResetKind::stale:
            return on_stale_reset(arrival);
        case ResetKind::next:
            apply_reset(arrival);
            // Deferred blocks came before it; the stream itself continues from the reset.
            return stream.join(epochs.current_index(), true);
    }
}

/// Processes a reset from before the first block that arrives again. A loop begins if the stream
/// had reached that block.
void SlowPath::on_reset_message(const Arrival& arrival) {
    EpochTracker& epochs = line_.epochs;
    const StreamState& stream = line_.stream_of(arrival);
    if (epochs.current_index() == 0 && arrival.ts_ns() < epochs.current().begin_ts_ns &&
        epochs.has_come_to_start(stream) && loops_.begins_anew(arrival, stream)) {
        apply_reset(arrival);
    } else {
        line_.counters().bump(LineCount::resets_repeated);
    }
}

/// Processes a reset that a stream repeats in the epoch of the reset: it is a duplicate, or a loop
/// begins.
void SlowPath::on_repeated_reset(const Arrival& arrival) {
    if (line_.epochs.leads_up_to(line_.stream_of(arrival), arrival.ts_ns())) {
        apply_reset(arrival);
    } else {
        on_stale_reset(arrival);
    }
}

/// Processes a reset that is older than the data that it would reset. It is a duplicate or a
/// displaced copy; if the stream had not delivered it before, it comes late, after newer data. In a
/// loop it begins the next turn.
void SlowPath::on_stale_reset(const Arrival& arrival) {
    StreamState& stream = line_.stream_of(arrival);
    const bool again = line_.epochs.current().repeats || loops_.has_brought_reset(arrival);
    if (again && loops_.begins_anew(arrival, stream)) {
        return apply_reset(arrival);
    }
    const bool known = line_.epochs.history().knows(ResetIdentity::of(arrival.block));
    line_.counters().bump(known ? LineCount::resets_repeated : LineCount::resets_stale);
    if (!again) {
        stream.newest_ts_ns =
            ArbiterSink::no_ts_ns;  // a duplicate of the reset may come next, and is not a loop
    }
}

/// The codec reports a new session once for each line and from then on drops blocks of older
/// sessions, so both streams are in the new session.
void SlowPath::on_new_session(const Arrival& arrival) {
    line_.counters().bump(LineCount::resets);
    open_epoch(arrival.block, false, arrival.sink);
    for (StreamState& stream : line_.streams) {
        stream.join(line_.epochs.current_index(), true);
    }
}

void SlowPath::apply_reset(const Arrival& arrival) {
    while (inference_.is_confirmed_before(arrival.ts_ns())) {
        // At least one reset before this one was missed.
        infer_reset(arrival.now_ns, arrival.sink, arrival.ts_ns());
    }
    line_.counters().bump(LineCount::resets);
    open_epoch(arrival.block, false, arrival.sink);
    line_.stream_of(arrival).join(line_.epochs.current_index(), true);
    replay_deferred(arrival.now_ns, arrival.sink);
}

/// Ends the current epoch and begins the next one. Missing numbers of the old epoch are declared
/// lost before the reset is reported; their messages may still come late.
void SlowPath::open_epoch(const Block& reset, bool inferred, ArbiterSink& sink) {
    EpochTracker& epochs = line_.epochs;
    Sequencer& sequencer = line_.sequencer;
    const bool may_repeat = !inferred && reset.role != BlockRole::new_session;
    const bool repeats = may_repeat && epochs.begins_loop(reset);
    if (may_repeat && !repeats) {
        inference_.defer_held_later_than(reset.ts_exchange_ns, sink);
    }
    sequencer.expire(Sequencer::never_ns, sink);
    const Forget forget = !inferred ? epochs.forget_of(ResetIdentity::of(reset), epochs.current(),
                                                       sequencer.expected())
                          : sink.start_is_due() ? Forget::day
                                                : Forget::quotes;
    loops_.note_epoch();
    line_.recent.clear();
    epochs.open(reset, repeats, inferred, forget);
    sequencer.start(epochs.current().begin, repeats ? ArbiterSink::no_ts_ns : reset.ts_exchange_ns);
    sink.reset(reset, forget, inferred);
}

// --- hot: deferred blocks ---

/// True if the block was deferred until it is known to which epoch it belongs.
bool SlowPath::defer(const Arrival& arrival) {
    if (replaying_) {
        return false;
    }
    switch (inference_.consider(arrival)) {
        case ResetInference::Decision::place:
            return false;
        case ResetInference::Decision::defer:
            return true;
        case ResetInference::Decision::reject:
            reject(arrival.now_ns, arrival.sink);
            return false;
        case ResetInference::Decision::overflow:
            if (inference_.is_confirmed()) {
                infer_reset(arrival.now_ns, arrival.sink);
            }
            return false;
    }
    return false;
}

/// Rejects the candidate, because its stream continued with the old numbers: the deferred blocks
/// were old.
void SlowPath::reject(std::int64_t now_ns, ArbiterSink& sink) {
    inference_.close();
    while (HeldBlock* held = inference_.deferred().earliest(ArbiterSink::any_ts_ns, false)) {
        replay(held, now_ns, sink);
    }
}

/// Infers the reset that no stream delivered in time. Deferred blocks with a block time after
/// `until_ts_ns` stay deferred, for the next reset.
void SlowPath::infer_reset(std::int64_t now_ns, ArbiterSink& sink, std::int64_t until_ts_ns) {
    const HeldBlock* first = inference_.deferred().earliest_original();
    PINSTRIKE_CHECK(first != nullptr);
    const auto source = static_cast<std::size_t>(first->source);
    line_.counters().bump(LineCount::resets_inferred);
    open_epoch(inference_.reset_before(first->block), true, sink);
    line_.streams[source].join(line_.epochs.current_index(), false);
    replay_deferred(now_ns, sink, until_ts_ns);
}

/// Places deferred blocks after an epoch was opened, up to the first block that looks as if it
/// followed a further reset.
void SlowPath::replay_deferred(std::int64_t now_ns, ArbiterSink& sink, std::int64_t until_ts_ns) {
    inference_.close();
    const bool stamps_repeat = line_.epochs.current().repeats;
    while (HeldBlock* held = inference_.deferred().earliest(until_ts_ns, stamps_repeat)) {
        if (!stamps_repeat && inference_.reopen(*held)) {
            return;
        }
        replay(held, now_ns, sink);
    }
}

void SlowPath::replay(HeldBlock* held, std::int64_t now_ns, ArbiterSink& sink) {
    const std::uint64_t before = brought();
    replaying_ = true;
    route({held->block, held->first, held->last, held->source, now_ns, sink});
    replaying_ = false;
    if (brought() != before) {
        deferred_commits_ += brought() - before;
        sink.committed(held->block);
    }
    inference_.deferred().release(held);
}

/// Messages accepted for the first time, of streams and repairs.
std::uint64_t SlowPath::brought() const {
    return line_.streams[0].counters.read(StreamCount::accepted) +
           line_.streams[1].counters.read(StreamCount::accepted) +
           line_.counters().read(LineCount::repaired);
}

// --- hot: timers ---

void SlowPath::finish(std::int64_t now_ns, ArbiterSink& sink) {
    while (inference_.is_open()) {  // a deferred block may become the next candidate
        if (inference_.is_confirmed()) {
            infer_reset(now_ns, sink);
        } else {
            reject(now_ns, sink);
        }
    }
    line_.sequencer.expire(Sequencer::never_ns, sink);
    refresh();
}

void SlowPath::run_timers(std::int64_t now_ns, ArbiterSink& sink) {
    while (now_ns >= inference_.deadline_ns()) {
        infer_reset(now_ns, sink);
    }
    line_.sequencer.expire(now_ns, sink);
    refresh();
}

/// Updates the values that the fast path and the poller read.
void SlowPath::refresh() {
    const Epoch& current = line_.epochs.current();
    PINSTRIKE_CHECK(current.begin == line_.sequencer.begin());
    PINSTRIKE_CHECK(inference_.is_open() || inference_.deferred().oldest() == nullptr);
    line_.sequencer.refresh(current.repeats ? ArbiterSink::no_ts_ns : current.begin_ts_ns);
    const bool calm = current.numbered && !inference_.is_open();
    for (const Stream stream : {Stream::a, Stream::b}) {
        StreamState& state = line_.stream(stream);
        state.fast = calm && line_.epochs.is_current(state.epoch) && loops_.knows_beginning(stream);
    }
    next_deadline_ns_ = std::min(line_.sequencer.held().deadline_ns(), inference_.deadline_ns());
}

}  // namespace pinstrike::feed
