// path: hot
#include "feed/arbitration/reset_inference.h"

#include "config/check.h"
#include "feed/event/position.h"

#include <algorithm>

namespace pinstrike::feed {

namespace {

/// A forward jump of more messages than this, to a number below E, is a reset and not a wrap.
constexpr std::uint64_t wrap_messages = 1 << 20;

}  // namespace

ResetInference::Decision ResetInference::consider(const Arrival& arrival) {
    if (!line_.numbering().infers_resets ||
        !line_.epochs.is_of_current(arrival.block, line_.stream_of(arrival))) {
        return Decision::place;
    }
    const bool looks = looks_missed(arrival.block);
    if (!looks && !(is_open() && is_behind(arrival))) {
        const bool goes_on = is_open() && !is_confirmed() && arrival.source == source_ &&
                             arrival.ts_ns() > newest_ts_ns_;
        return goes_on ? Decision::reject : Decision::place;
    }
    if (!deferred_.defer(arrival)) {
        return Decision::overflow;
    }
    note(arrival.block, arrival.source, arrival.now_ns, looks);
    return Decision::defer;
}

bool ResetInference::looks_missed(const Block& block) const {
    const Sequencer& sequencer = line_.sequencer;
    const Epoch& current = line_.epochs.current();
    if (!current.numbered || sequencer.newest_ts_ns() == ArbiterSink::no_ts_ns ||
        block.ts_exchange_ns <= sequencer.newest_ts_ns()) {
        return false;
    }
    const std::uint64_t number = number_of(block, line_.numbering());
    const Position expected = sequencer.expected();
    const Position begin = line_.numbering().nearest(expected, number);
    if (const HoldEntry* behind = line_.sequencer.held().find(begin + 1);
        behind != nullptr && behind->ts_ns() < block.ts_exchange_ns) {
        return true;
    }
    if (begin > expected) {
        return number < sequencer.expected_number() && begin - expected > wrap_messages;
    }
    if (current.by_reset && begin < current.begin) {
        // Also if the block spans the first number, because no block spans the reset before it.
        return true;
    }
    return block.role == BlockRole::data ? begin + block.messages <= expected : begin < expected;
}

/// Whether a block follows the missed reset because it is stamped no earlier than the candidate. As
/// long as the candidate is not confirmed, this does not hold for a block that continues with the
/// expected number, unless the same block also continues the candidate.
bool ResetInference::is_behind(const Arrival& arrival) const {
    const std::uint64_t number = number_of(arrival.block, line_.numbering());
    return arrival.ts_ns() >= first_ts_ns_ &&
           (is_confirmed() || number != line_.sequencer.expected_number() ||
            (arrival.source == source_ && number == next_number_));
}

void ResetInference::note(const Block& block, Source source, std::int64_t arrival_ns,
                          bool looks_missed) {
    const std::int64_t ts_ns = block.ts_exchange_ns;
    if (!is_open()) {
        candidates_ = 1;
        first_ts_ns_ = ts_ns;
        infer_at_ns_ = line_.sequencer.held().deadline_after(arrival_ns);
    } else {
        const bool again =
            source == source_ && next_of(block, line_.numbering()) == next_number_;  // a duplicate
        const bool next = source == source_ && number_of(block, line_.numbering()) == next_number_;
        first_ts_ns_ = std::min(first_ts_ns_, ts_ns);
        candidates_ += (looks_missed || next) && !again ? 1 : 0;
        if (ts_ns < newest_ts_ns_) {
            return;
        }
    }
    source_ = source;
    next_number_ = next_of(block, line_.numbering());
    newest_ts_ns_ = ts_ns;
}

void ResetInference::close() {
    candidates_ = 0;
    infer_at_ns_ = Sequencer::never_ns;
}

bool ResetInference::reopen(const HeldBlock& held) {
    PINSTRIKE_CHECK(!is_open() && infer_at_ns_ == Sequencer::never_ns);
    if (held.source == Source::repair || !looks_missed(held.block)) {
        return false;
    }
    for (const HeldBlock* at = deferred_.oldest(); at != nullptr; at = deferred_.younger(at)) {
        if (at->source != Source::repair) {
            note(at->block, at->source, at->arrival_ns, looks_missed(at->block));
        }
    }
    return true;
}

void ResetInference::compare_with_held(const Arrival& arrival) {
    const HeldBlocks& held = line_.sequencer.held();
    if (!line_.numbering().infers_resets || held.empty() || is_confirmed() ||
        line_.epochs.current().repeats) {
        return;
    }
    const Position base =
        line_.numbering().nearest(line_.sequencer.expected(), arrival.block.sequence);
    const HoldEntry* entry = held.find(base);
    if (entry == nullptr || entry->kind == HoldEntry::Kind::evidence ||
        entry->held->source == Source::repair || entry->begin > base + entry->held->first ||
        entry->ts_ns() <= arrival.ts_ns()) {
        return;
    }
    const std::int64_t ts_ns = entry->ts_ns();
    const std::int64_t infer_at_ns = held.deadline_after(held.back().held->arrival_ns);
    defer_held_later_than(ts_ns - 1, arrival.sink);
    if (const HeldBlock* first = deferred_.earliest_original(); first != nullptr) {
        candidates_ = confirming;
        first_ts_ns_ = first->block.ts_exchange_ns;
        infer_at_ns_ = std::min(infer_at_ns_, infer_at_ns);
    }
}

void ResetInference::defer_held_later_than(std::int64_t ts_ns, ArbiterSink& sink) {
    line_.sequencer.withdraw_later_than(ts_ns, sink,
                                        [this](const HoldEntry& entry) { return defer(entry); });
}

/// Defers a held entry that is in the wrong epoch, and undoes its counts. It is counted again in
/// its own epoch.
bool ResetInference::defer(const HoldEntry& entry) {
    if (!deferred_.defer(*entry.held)) {
        return false;
    }
    const std::uint64_t messages = entry.end - entry.begin;
    const auto reduce = [messages](Counter& counter) {
        PINSTRIKE_CHECK(counter.read() >= messages);
        counter.set(counter.read() - messages);
    };
    if (entry.held->source == Source::repair) {
        reduce(line_.counters().at(LineCount::repaired));
    } else {
        StreamCounters& counters = line_.stream(static_cast<Stream>(entry.held->source)).counters;
        reduce(counters.at(entry.kind == HoldEntry::Kind::undecodable ? StreamCount::rejected
                                                                      : StreamCount::accepted));
    }
    return true;
}

Block ResetInference::reset_before(const Block& first) const {
    Block reset;
    PINSTRIKE_CHECK(number_of(first, line_.numbering()) != 0);
    reset.sequence = number_of(first, line_.numbering()) - 1;
    reset.messages = reset.decodable = 1;
    reset.role = BlockRole::reset;
    reset.session = first.session;
    reset.ts_exchange_ns = first.ts_exchange_ns;
    reset.ts_receive_ns = first.ts_receive_ns;
    return reset;
}

}  // namespace pinstrike::feed
