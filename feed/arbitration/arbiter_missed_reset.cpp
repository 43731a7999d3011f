// path: hot
//
// Resets that have to be recognised by what follows them.
//
// A reset lost on both streams leaves every later block looking old. A block below E, stamped later
// than all that was delivered, is therefore set aside, also where it would fit into a gap or a
// hole: what fills those is stamped earlier than what is behind them. If the stream goes on from
// it, or the other one brings it too, a reset was missed. Usually the other stream is only slower
// and still brings the reset: so the new epoch is inferred only when the window has passed, and
// what was set aside is placed when the epoch is known, one way or the other. If the stream goes on
// elsewhere, it was old; if it brings nothing more within the window, a reset was missed. Streams
// in disorder may have brought blocks from behind several such resets by then: so they are placed
// in the order of their stamps, up to the next.
//
// A capture played in a loop repeats its stamps. A reset older than what was delivered is a stray
// copy, unless the stream had brought it before, and two blocks that follow it on the same stream
// are numbered as it says and old as well. Blocks older than the reset before them are stray,
// unless three that follow each other are numbered as it said and the stream once began with them.
// What a stream had not brought yet is late, however well it is numbered: where numbers begin anew,
// those of before the reset are like those behind it.
#include "feed/arbitration/arbiter.h"

namespace pinstrike::feed {

namespace {

/// A jump ahead of more than this, to a number below E, is a reset rather than a wrap.
constexpr std::uint64_t wrap_messages = 1 << 20;
/// How far from E the first block of a repeated capture may be: those before it may be lost.
constexpr std::uint64_t repeat_messages = 256;
/// How far apart the first blocks of the two streams behind a missed reset may be.
constexpr std::uint64_t first_blocks_messages = 65536;

/// The first number of a data block; the next number, of a line integrity control.
std::uint32_t number_of(const Block& block) {
    return block.role == BlockRole::data ? block.sequence : number_after(block.sequence);
}

/// The number that goes on from this block.
std::uint32_t next_of(const Block& block) {
    const Position first = numbers_per_turn + number_of(block);
    return number_at(first + (block.role == BlockRole::data ? block.messages : 0U));
}

bool is_reset(const Block& block) {
    return block.role == BlockRole::reset || block.role == BlockRole::start_of_day;
}

/// Of a stream, and numbered: it can show that a reset was missed.
bool bears_witness(const HeldBlock& held) {
    return held.source != Source::repair && !is_reset(held.block);
}

/// One goes on from the other, or they are the same.
bool are_neighbours(const Block& one, const Block& other) {
    return number_of(one) == next_of(other) || number_of(other) == next_of(one) ||
           (number_of(one) == number_of(other) && one.ts_exchange_ns == other.ts_exchange_ns);
}

}  // namespace

bool Arbiter::suspecting() const {
    return confirmed_ || streams_[0].suspicion.of != Suspicion::Of::nothing ||
           streams_[1].suspicion.of != Suspicion::Of::nothing;
}

/// True if the block was set aside until it is known to which epoch it belongs.
bool Arbiter::suspect(const Arrival& arrival) {
    if (processing_aside_) {
        return false;
    }
    StreamState& stream = state_of(arrival);
    if (confirmed_) {
        const std::int64_t ts_ns = arrival.block.ts_exchange_ns;
        if (!is_of_current(arrival) ||
            (ts_ns < confirmed_ts_ns_ && !looks_like_missed_reset(arrival.block))) {
            return false;
        }
        if (set_aside(arrival)) {
            confirmed_ts_ns_ = std::min(confirmed_ts_ns_, ts_ns);
            return true;
        }
        infer_reset(arrival.now_ns, arrival.sink);
        return false;
    }
    Suspicion& suspicion = stream.suspicion;
    const Suspicion::Of of = looks_like(arrival);
    if (suspicion.of != Suspicion::Of::nothing && goes_on(arrival, of)) {
        return true;
    }
    // A block from before what is suspected, out of order, says nothing of it.
    const bool out_of_order = suspicion.of == Suspicion::Of::missed_reset &&
                              arrival.block.ts_exchange_ns < suspicion.bound_ts_ns;
    if (out_of_order) {
        suspicion.believe_at_ns = deadline_after(arrival.now_ns);
    }
    if (!out_of_order && (of != suspicion.of || of == Suspicion::Of::repeated_blocks)) {
        refute(arrival.source, arrival.now_ns, arrival.sink);
    }
    if (of == Suspicion::Of::nothing || !set_aside(arrival)) {
        return false;
    }
    if (!out_of_order) {
        const std::uint8_t needed = of == Suspicion::Of::repeated_blocks ? 2 : 1;
        suspicion = {of, next_of(arrival.block), needed, arrival.block.ts_exchange_ns,
                     suspicion.of == of ? suspicion.believe_at_ns : deadline_after(arrival.now_ns)};
    }
    if (const HeldBlock* word =
            of == Suspicion::Of::missed_reset ? word_of_other(arrival) : nullptr;
        word != nullptr) {
        confirm({word->block, 0, 0, word->source, arrival.now_ns, arrival.sink});
    }
    return true;
}

/// Whether the stream's suspicion is strengthened by this block, or not weakened: one that skips
/// numbers may go on from what is suspected, behind a loss, as well as from what was delivered.
bool Arbiter::goes_on(const Arrival& arrival, Suspicion::Of of) {
    Suspicion& suspicion = state_of(arrival).suspicion;
    const Block& block = arrival.block;
    bool fits = true;
    if (suspicion.of == Suspicion::Of::repeated_blocks) {
        const bool known =
            block.role != BlockRole::data || beginning_of(arrival.source).known.has(block);
        fits = known && precedes(block, epochs_.current());
    } else if (suspicion.of == Suspicion::Of::repeated_reset) {
        fits = block.ts_exchange_ns <= suspicion.bound_ts_ns;
    } else {
        fits = block.ts_exchange_ns >= suspicion.bound_ts_ns;  // or it is from before, out of order
    }
    const bool next = number_of(block) == suspicion.next_number;
    const bool again = !next && next_of(block) == suspicion.next_number;  // came twice
    const bool skips = !next && !again && skips_from(suspicion, block);
    if ((!next && !again && !skips) || !fits || !set_aside(arrival)) {
        return false;
    }
    if (again) {
        return true;
    }
    suspicion.next_number = next_of(block);
    if (suspicion.of == Suspicion::Of::missed_reset) {
        suspicion.bound_ts_ns = block.ts_exchange_ns;
    }
    if ((next || of == suspicion.of) && --suspicion.needed == 0) {
        confirm(arrival);
    }
    return true;
}

/// Behind a reset that was missed, and a loss; it does not go on from what was delivered, at least
/// not without a loss.
bool Arbiter::skips_from(const Suspicion& suspicion, const Block& block) const {
    const std::uint32_t number = number_of(block);
    const Position next = 2 * numbers_per_turn + suspicion.next_number;
    const Position begin = nearest(next, number);
    return suspicion.of == Suspicion::Of::missed_reset && begin > next &&
           begin - next <= first_blocks_messages && number != expected_number_;
}

/// The stream is in the current epoch, or shows by a later stamp that it only lost the reset.
bool Arbiter::is_of_current(const Arrival& arrival) {
    const Epoch& current = epochs_.current();
    return state_of(arrival).epoch == epochs_.current_index() ||
           (current.numbered && !current.repeats &&
            arrival.block.ts_exchange_ns > current.begin_ts_ns);
}

Arbiter::Suspicion::Of Arbiter::looks_like(const Arrival& arrival) {
    if (!is_of_current(arrival)) {
        return Suspicion::Of::nothing;
    }
    return looks_repeated(arrival)                  ? Suspicion::Of::repeated_blocks
           : looks_like_missed_reset(arrival.block) ? Suspicion::Of::missed_reset
                                                    : Suspicion::Of::nothing;
}

/// Behind the reset the stream brings again what it once began with.
bool Arbiter::looks_repeated(const Arrival& arrival) {
    return is_numbered_as_reset(arrival.block) &&
           beginning_of(arrival.source).known.has(arrival.block);
}

/// Stamped before the reset, yet numbered as it said.
bool Arbiter::is_numbered_as_reset(const Block& block) {
    const Epoch& current = epochs_.current();
    if (!current.by_reset || block.role != BlockRole::data || !precedes(block, current)) {
        return false;
    }
    const Position expected = expected_position();
    const Position begin = nearest(expected, block.sequence);
    return begin >= expected && begin - expected <= repeat_messages;
}

/// What the stream began with is noted where it comes: a reset has yet to show that it is needed.
void Arbiter::note_beginning(const Arrival& arrival) {
    Beginning& beginning = beginning_of(arrival.source);
    const bool behind_reset = state_of(arrival).epoch == epochs_.current_index();
    if (behind_reset && is_numbered_as_reset(arrival.block)) {
        beginning.behind_reset.note(arrival.block);
    } else {
        beginning.known.note(arrival.block);
    }
}

/// The reset came again: what came before that, behind it and yet old, is how the loop begins. The
/// program had been started in the middle of a turn.
void Arbiter::adopt_beginning(Source source) {
    Beginning& beginning = beginning_of(source);
    if (!beginning.behind_reset.empty()) {
        beginning.known = beginning.behind_reset;
        beginning.behind_reset.clear();
    }
}

bool Arbiter::looks_like_missed_reset(const Block& block) const {
    if (!epochs_.current().numbered || newest_ts_ns_ == no_ts ||
        block.ts_exchange_ns <= newest_ts_ns_) {
        return false;
    }
    const std::uint32_t number = number_of(block);
    const Position expected = expected_position();
    const Position begin = nearest(expected, number);
    if (const HoldEntry* behind = queue_.find(begin + 1);
        behind != nullptr && behind->held->block.ts_exchange_ns < block.ts_exchange_ns) {
        return true;
    }
    if (begin > expected) {
        return number < expected_number_ && begin - expected > wrap_messages;
    }
    if (epochs_.current().by_reset && begin < epochs_.current().begin) {
        return true;  // also where it lies astride the first number: a reset stands at its own end
    }
    return block.role == BlockRole::data ? begin + block.messages <= expected : begin < expected;
}

bool Arbiter::set_aside(const Arrival& arrival) {
    return aside_.keep(arrival.block, static_cast<std::uint16_t>(arrival.first),
                       static_cast<std::uint16_t>(arrival.last), arrival.source,
                       arrival.now_ns) != nullptr;
}

/// What the other stream, for the same suspicion, set aside and this block bears out: the block
/// itself, or its neighbour. nullptr if there is none.
const HeldBlock* Arbiter::word_of_other(const Arrival& arrival) const {
    const Source other = arrival.source == Source::a ? Source::b : Source::a;
    if (streams_[static_cast<std::size_t>(other)].suspicion.of != Suspicion::Of::missed_reset) {
        return nullptr;
    }
    const Block& block = arrival.block;
    const HeldBlock* held = aside_.oldest();
    while (held != nullptr && (held->source != other || !are_neighbours(held->block, block))) {
        held = aside_.younger(held);
    }
    return held;
}

/// Whether anything of the stream could show that a reset was missed.
bool Arbiter::has_set_aside(Source source) const {
    const HeldBlock* held = aside_.oldest();
    while (held != nullptr && (held->source != source || !bears_witness(*held))) {
        held = aside_.younger(held);
    }
    return held != nullptr;
}

/// Whether the reset by which the stream is suspected of a loop is this one.
bool Arbiter::has_set_aside(Source source, const Block& reset) const {
    const HeldBlock* held = aside_.oldest();
    while (held != nullptr && (held->source != source || !is_reset(held->block))) {
        held = aside_.younger(held);
    }
    return held != nullptr && ResetIdentity::of(held->block) == ResetIdentity::of(reset);
}

void Arbiter::confirm(const Arrival& arrival) {
    const HeldBlock* first = aside_.oldest();
    while (first->source != arrival.source) {
        first = aside_.younger(first);
    }
    switch (state_of(arrival).suspicion.of) {
        case Suspicion::Of::repeated_reset:
            // Its copy stays where it is until process_set_aside() drops it.
            return apply_reset({first->block, 0, 0, arrival.source, arrival.now_ns, arrival.sink});
        case Suspicion::Of::repeated_blocks:
            epochs_.current().repeats = true;
            return process_set_aside(arrival.now_ns, arrival.sink);
        default:
            confirm_missed_reset(arrival.source, deadline_after(first->arrival_ns));
    }
}

void Arbiter::confirm_missed_reset(Source source, std::int64_t infer_at_ns) {
    confirmed_ = true;
    confirmed_by_ = source;
    confirmed_ts_ns_ = first_after_missed_reset()->block.ts_exchange_ns;
    infer_at_ns_ = infer_at_ns;
}

/// When a stream that brought nothing more is believed: what it brought last, from behind a reset
/// that was missed, would wait for the line's next block otherwise.
std::int64_t Arbiter::believe_at_ns() const {
    std::int64_t at_ns = never_ns;
    for (const StreamState& stream : streams_) {
        if (!confirmed_ && stream.suspicion.of == Suspicion::Of::missed_reset) {
            at_ns = std::min(at_ns, stream.suspicion.believe_at_ns);
        }
    }
    return at_ns;
}

void Arbiter::believe(std::int64_t now_ns, ArbiterSink& sink) {
    const bool b_first = streams_[1].suspicion.of == Suspicion::Of::missed_reset &&
                         streams_[1].suspicion.believe_at_ns == believe_at_ns();
    confirm_missed_reset(b_first ? Source::b : Source::a, now_ns);
    infer_reset(now_ns, sink);
}

/// A stream's blocks are stamped in the order of their numbers. Where one waits that begins no
/// later than this one, but is stamped later, both streams lost a reset between the two, or have
/// yet to bring it. (What was retransmitted may be packed and stamped otherwise.)
void Arbiter::doubt_waiting(const Arrival& arrival, Position base) {
    if (queue_.empty() || confirmed_ || processing_aside_ || epochs_.current().repeats) {
        return;
    }
    const HoldEntry* entry = queue_.find(base);
    if (entry == nullptr || entry->kind == HoldEntry::Kind::evidence ||
        entry->held->source == Source::repair || entry->begin > base + entry->held->first ||
        entry->held->block.ts_exchange_ns <= arrival.block.ts_exchange_ns) {
        return;
    }
    // What fills holes came for what is behind them: the last that waits is of a stream.
    confirmed_by_ = queue_.back().held->source;
    infer_at_ns_ = deadline_after(queue_.back().held->arrival_ns);
    set_aside_later_than(entry->held->block.ts_exchange_ns - 1, arrival.sink);
    confirmed_ = has_set_aside(confirmed_by_);
    if (confirmed_) {
        confirmed_ts_ns_ = first_after_missed_reset()->block.ts_exchange_ns;
    } else {
        infer_at_ns_ = never_ns;
    }
}

/// The stream went on elsewhere: what was set aside is what it seemed to be, old.
void Arbiter::refute(Source source, std::int64_t now_ns, ArbiterSink& sink) {
    Suspicion& suspicion = streams_[static_cast<std::size_t>(source)].suspicion;
    if (suspicion.of == Suspicion::Of::nothing || confirmed_) {
        return;
    }
    suspicion = {};
    for (HeldBlock* held = aside_.oldest(); held != nullptr;) {
        HeldBlock* next = aside_.younger(held);
        if (held->source == source) {
            process_set_aside(held, now_ns, sink);
        }
        held = next;
    }
}

/// No stream brought the reset in time: the epoch begins with the first block set aside. Those
/// stamped later than `until_ts_ns` stay aside, for the next.
void Arbiter::infer_reset(std::int64_t now_ns, ArbiterSink& sink, std::int64_t until_ts_ns) {
    const Block& first = first_after_missed_reset()->block;
    const std::uint32_t number = number_of(first);
    Block reset;
    reset.sequence = number - 1;
    reset.messages = reset.decodable = 1;
    reset.role = BlockRole::reset;
    reset.session = first.session;
    reset.ts_exchange_ns = first.ts_exchange_ns;
    reset.ts_receive_ns = first.ts_receive_ns;
    counters_.bump(LineCount::resets_inferred);
    open_epoch(reset, true, sink);
    join_epoch(streams_[static_cast<std::size_t>(confirmed_by_)], epochs_.current_index(), false);
    process_set_aside(now_ns, sink, until_ts_ns);
}

/// The earliest one of the stream that confirmed the reset, or an earlier one of the other stream
/// if that leads up to it.
const HeldBlock* Arbiter::first_after_missed_reset() const {
    const HeldBlock* first = nullptr;
    for (const HeldBlock* held = aside_.oldest(); held != nullptr; held = aside_.younger(held)) {
        if (held->source == confirmed_by_ && !is_reset(held->block) &&
            (first == nullptr || held->block.ts_exchange_ns < first->block.ts_exchange_ns)) {
            first = held;
        }
    }
    const Position begin = 2 * numbers_per_turn + number_of(first->block);
    const HeldBlock* earliest = first;
    for (const HeldBlock* held = aside_.oldest(); held != nullptr; held = aside_.younger(held)) {
        const Position other = nearest(begin, number_of(held->block));
        if (!is_reset(held->block) && other < begin && begin - other < first_blocks_messages &&
            held->block.ts_exchange_ns < earliest->block.ts_exchange_ns) {
            earliest = held;
        }
    }
    return earliest;
}

/// An epoch was opened: what was set aside finds its place, up to the first block that looks to be
/// behind a further reset.
void Arbiter::process_set_aside(std::int64_t now_ns, ArbiterSink& sink, std::int64_t until_ts_ns) {
    confirmed_ = false;
    infer_at_ns_ = never_ns;
    streams_[0].suspicion = streams_[1].suspicion = {};
    const bool stamps_tell = !epochs_.current().repeats;
    while (HeldBlock* held = next_set_aside(until_ts_ns)) {
        if (stamps_tell && bears_witness(*held) && looks_like_missed_reset(held->block)) {
            return suspect_again(now_ns, sink, until_ts_ns);
        }
        process_set_aside(held, now_ns, sink);
    }
}

/// The earliest by its stamp; where stamps repeat, by its arrival. nullptr if there is none.
HeldBlock* Arbiter::next_set_aside(std::int64_t until_ts_ns) const {
    HeldBlock* next = nullptr;
    for (HeldBlock* held = aside_.oldest(); held != nullptr; held = aside_.younger(held)) {
        const std::int64_t ts_ns = held->block.ts_exchange_ns;
        const bool earlier =
            next == nullptr || (ts_ns < next->block.ts_exchange_ns && !epochs_.current().repeats);
        if (earlier && ts_ns <= until_ts_ns) {
            next = held;
        }
    }
    return next;
}

/// What stays aside may bear out a further reset, as if it came only now.
void Arbiter::suspect_again(std::int64_t now_ns, ArbiterSink& sink, std::int64_t until_ts_ns) {
    for (HeldBlock* held = aside_.oldest(); held != nullptr && !confirmed_;) {
        HeldBlock* next = aside_.younger(held);
        if (!bears_witness(*held)) {
            process_set_aside(held, now_ns, sink);
        } else if (held->block.ts_exchange_ns <= until_ts_ns) {
            suspect_again(*held, now_ns, sink);
        }
        held = next;
    }
}

void Arbiter::suspect_again(const HeldBlock& held, std::int64_t now_ns, ArbiterSink& sink) {
    const Block& block = held.block;
    const Arrival arrival{block, held.first, held.last, held.source, now_ns, sink};
    Suspicion& suspicion = state_of(arrival).suspicion;
    const bool goes_on =
        suspicion.of == Suspicion::Of::missed_reset && number_of(block) == suspicion.next_number;
    if (block.ts_exchange_ns > suspicion.bound_ts_ns) {
        suspicion = {Suspicion::Of::missed_reset, next_of(block), 1, block.ts_exchange_ns,
                     deadline_after(held.arrival_ns)};
    }
    if (goes_on) {
        confirm(arrival);
    } else if (const HeldBlock* word = word_of_other(arrival); word != nullptr) {
        confirm({word->block, 0, 0, word->source, now_ns, sink});
    }
}

/// Messages that a stream, or a repair, brought first.
std::uint64_t Arbiter::brought() const {
    return streams_[0].counters.read(StreamCount::accepted) +
           streams_[1].counters.read(StreamCount::accepted) + counters_.read(LineCount::repaired);
}

void Arbiter::process_set_aside(HeldBlock* held, std::int64_t now_ns, ArbiterSink& sink) {
    processing_aside_ = true;
    if (!is_reset(held->block)) {
        const std::uint64_t before = brought();
        process({held->block, held->first, held->last, held->source, now_ns, sink});
        if (brought() != before) {
            brought_aside_ += brought() - before;
            sink.taken(held->block);
        }
    }
    aside_.release(held);
    processing_aside_ = false;
}

}  // namespace pinstrike::feed
