// path: hot
#include "feed/arbitration/reset_inference.h"

#include "config/check.h"
#include "feed/arbitration/position.h"

#include <algorithm>

namespace pinstrike::feed {

namespace {

/// A jump ahead of more than this, to a number below E, is a reset rather than a wrap.
constexpr std::uint64_t wrap_messages = 1 << 20;
/// How many numbers a stream may have lost between a candidate and the block that corroborates it.
constexpr std::uint64_t skip_messages = 65536;

}  // namespace

bool ResetInference::is_active() const {
    return confirmed_ || candidates_[0].open || candidates_[1].open;
}

std::int64_t ResetInference::deadline_ns() const {
    PINSTRIKE_CHECK(confirmed_ || infer_at_ns_ == Sequencer::never_ns);
    return std::min(infer_at_ns_, timeout_ns());
}

/// When a stream that brought nothing more is taken at its word: what it brought last, from behind
/// a reset that was missed, would wait for the line's next block otherwise.
std::int64_t ResetInference::timeout_ns() const {
    std::int64_t at_ns = Sequencer::never_ns;
    for (const Candidate& candidate : candidates_) {
        if (!confirmed_ && candidate.open) {
            at_ns = std::min(at_ns, candidate.timeout_ns);
        }
    }
    return at_ns;
}

bool ResetInference::is_behind_confirmed(const Arrival& arrival) const {
    return line_.epochs.is_of_current(arrival.block, line_.stream_of(arrival)) &&
           (arrival.ts_ns() >= confirmed_ts_ns_ || looks_like_missed_reset(arrival.block));
}

bool ResetInference::defer_behind_confirmed(const Arrival& arrival) {
    PINSTRIKE_CHECK(confirmed_);
    if (!deferred_.defer(arrival)) {
        return false;
    }
    confirmed_ts_ns_ = std::min(confirmed_ts_ns_, arrival.ts_ns());
    return true;
}

bool ResetInference::looks_like_missed_reset(const Block& block) const {
    const Sequencer& sequencer = line_.sequencer;
    const Epoch& current = line_.epochs.current();
    if (!current.numbered || sequencer.newest_ts_ns() == ArbiterSink::no_ts_ns ||
        block.ts_exchange_ns <= sequencer.newest_ts_ns()) {
        return false;
    }
    const std::uint32_t number = number_of(block);
    const Position expected = sequencer.expected();
    const Position begin = nearest(expected, number);
    if (const HoldEntry* behind = sequencer.held().find(begin + 1);
        behind != nullptr && behind->held->block.ts_exchange_ns < block.ts_exchange_ns) {
        return true;
    }
    if (begin > expected) {
        return number < sequencer.expected_number() && begin - expected > wrap_messages;
    }
    if (current.by_reset && begin < current.begin) {
        return true;  // also where it lies astride the first number: a reset stands at its own end
    }
    return block.role == BlockRole::data ? begin + block.messages <= expected : begin < expected;
}

ResetInference::Corroboration ResetInference::corroborate(const Arrival& arrival,
                                                          bool looks_missed) {
    Candidate& own = candidate_of(arrival);
    const Block& block = arrival.block;
    if (!own.open || arrival.ts_ns() < own.newest_ts_ns) {
        return Corroboration::none;
    }
    const bool next = number_of(block) == own.next_number;
    const bool again = !next && next_of(block) == own.next_number;  // came twice
    const bool skips = !next && !again && skips_from(own, block);
    if ((!next && !again && !skips) || !deferred_.defer(arrival)) {
        return Corroboration::none;
    }
    if (again) {
        return Corroboration::some;
    }
    own.next_number = next_of(block);
    own.newest_ts_ns = arrival.ts_ns();
    return next || looks_missed ? Corroboration::enough : Corroboration::some;
}

/// Behind a reset that was missed, and a loss; it does not go on from what was delivered, at least
/// not without a loss.
bool ResetInference::skips_from(const Candidate& candidate, const Block& block) const {
    const std::uint32_t number = number_of(block);
    const Position next = 2 * numbers_per_turn + candidate.next_number;
    const Position begin = nearest(next, number);
    return begin > next && begin - next <= skip_messages &&
           number != line_.sequencer.expected_number();
}

/// A block from before the candidate, out of order, says nothing of it.
bool ResetInference::is_out_of_order(const Arrival& arrival) const {
    const Candidate& own = candidate(arrival.source);
    return own.open && arrival.ts_ns() < own.newest_ts_ns;
}

bool ResetInference::contradicts(const Arrival& arrival, bool looks_missed) {
    if (is_out_of_order(arrival)) {
        candidate_of(arrival).timeout_ns = line_.sequencer.deadline_after(arrival.now_ns);
        return false;
    }
    return candidate(arrival.source).open && !looks_missed;
}

bool ResetInference::begin(const Arrival& arrival) {
    PINSTRIKE_CHECK(!confirmed_);
    if (!deferred_.defer(arrival)) {
        return false;
    }
    Candidate& own = candidate_of(arrival);
    if (!is_out_of_order(arrival)) {
        const std::int64_t timeout_ns =
            own.open ? own.timeout_ns : line_.sequencer.deadline_after(arrival.now_ns);
        own = {true, next_of(arrival.block), arrival.ts_ns(), timeout_ns};
    }
    return true;
}

void ResetInference::clear() {
    confirmed_ = false;
    infer_at_ns_ = Sequencer::never_ns;
    candidates_ = {};
}

const HeldBlock* ResetInference::corroborated_by(const Arrival& arrival) const {
    const Source other = arrival.source == Source::a ? Source::b : Source::a;
    return candidate(other).open ? deferred_.neighbour(other, arrival.block) : nullptr;
}

void ResetInference::confirm(Source source) {
    const HeldBlock* first = deferred_.first_of(source);
    PINSTRIKE_CHECK(first != nullptr);
    confirm_at(source, line_.sequencer.deadline_after(first->arrival_ns));
}

void ResetInference::confirm_by_timeout(std::int64_t now_ns) {
    PINSTRIKE_CHECK(!confirmed_);
    const bool b_first = candidates_[1].open && candidates_[1].timeout_ns == timeout_ns();
    confirm_at(b_first ? Source::b : Source::a, now_ns);
}

void ResetInference::confirm_at(Source source, std::int64_t infer_at_ns) {
    confirmed_ = true;
    confirmed_by_ = source;
    confirmed_ts_ns_ = deferred_.first_behind_reset(source).block.ts_exchange_ns;
    infer_at_ns_ = infer_at_ns;
}

void ResetInference::reconsider(const HeldBlock& held) {
    const Block& block = held.block;
    Candidate& own = candidates_[static_cast<std::size_t>(held.source)];
    const bool goes_on = own.open && number_of(block) == own.next_number;
    if (block.ts_exchange_ns > own.newest_ts_ns) {
        own = {true, next_of(block), block.ts_exchange_ns,
               line_.sequencer.deadline_after(held.arrival_ns)};
    }
    const Source other = held.source == Source::a ? Source::b : Source::a;
    if (goes_on) {
        confirm(held.source);
    } else if (candidate(other).open && deferred_.neighbour(other, block) != nullptr) {
        confirm(other);
    }
}

void ResetInference::compare_with_held(const Arrival& arrival) {
    const HoldQueue& queue = line_.sequencer.held();
    if (queue.empty() || confirmed_ || line_.epochs.current().repeats) {
        return;
    }
    const Position base = nearest(line_.sequencer.expected(), arrival.block.sequence);
    const HoldEntry* entry = queue.find(base);
    if (entry == nullptr || entry->kind == HoldEntry::Kind::evidence ||
        entry->held->source == Source::repair || entry->begin > base + entry->held->first ||
        entry->held->block.ts_exchange_ns <= arrival.ts_ns()) {
        return;
    }
    // What fills holes came for what is behind them: the last that waits is of a stream.
    const HeldBlock& last = *queue.back().held;
    const Source source = last.source;
    const std::int64_t infer_at_ns = line_.sequencer.deadline_after(last.arrival_ns);
    defer_held_later_than(entry->held->block.ts_exchange_ns - 1, arrival.sink);
    if (deferred_.can_corroborate(source)) {
        confirm_at(source, infer_at_ns);
    }
}

void ResetInference::defer_held_later_than(std::int64_t ts_ns, ArbiterSink& sink) {
    line_.sequencer.withdraw_later_than(ts_ns, sink,
                                        [this](const HoldEntry& entry) { return defer(entry); });
}

/// Undoes what was counted of an entry that is in the wrong epoch; it is counted again in its own.
bool ResetInference::defer(const HoldEntry& entry) {
    if (!deferred_.defer(*entry.held)) {
        return false;
    }
    const std::uint64_t messages = entry.end - entry.begin;
    const auto reduce = [messages](Counter& counter) { counter.set(counter.read() - messages); };
    if (entry.held->source == Source::repair) {
        reduce(line_.counters().at(LineCount::repaired));
    } else {
        StreamCounters& counters = line_.stream(static_cast<Stream>(entry.held->source)).counters;
        reduce(counters.at(entry.kind == HoldEntry::Kind::undecodable ? StreamCount::rejected
                                                                      : StreamCount::accepted));
    }
    return true;
}

Block ResetInference::confirmed_reset() const {
    PINSTRIKE_CHECK(confirmed_);
    const Block& first = deferred_.first_behind_reset(confirmed_by_).block;
    Block reset;
    reset.sequence = number_of(first) - 1;
    reset.messages = reset.decodable = 1;
    reset.role = BlockRole::reset;
    reset.session = first.session;
    reset.ts_exchange_ns = first.ts_exchange_ns;
    reset.ts_receive_ns = first.ts_receive_ns;
    return reset;
}

}  // namespace pinstrike::feed
