// path: hot
#include "feed/arbitration/epoch_corrections.h"

#include "config/check.h"

#include <algorithm>
#include <cstdint>

namespace pinstrike::feed {

namespace {

/// The most messages by which an epoch that has ended is extended. A number further away belongs to
/// an epoch that is not known.
constexpr std::uint64_t jump_messages = 1 << 20;

}  // namespace

bool EpochCorrections::extend(const Arrival& arrival, EpochIndex index, Position begin,
                              Position end) {
    Epoch& epoch = line_.epochs.at(index);
    PINSTRIKE_CHECK(!line_.epochs.is_current(index) && begin >= epoch.end);
    if (end >= line_.epochs.at(index + 1).begin || begin - epoch.end > jump_messages) {
        return false;
    }
    line_.counters().bump(LineCount::highest, end - epoch.end);
    if (begin != epoch.end) {
        arrival.note_missing(epoch.end, begin, epoch.newest_ts_ns);
        line_.sequencer.declare_lost(epoch.end, begin, GapCause::line,
                                     std::min(epoch.newest_ts_ns, arrival.ts_ns()), arrival.sink);
    }
    lengthen(index, end, arrival);
    return true;
}

/// Moves the end of an epoch that has ended. The new end may show that the reset after it lowered
/// the numbers. In that case the reset is reported once more, and older messages that come late are
/// marked.
void EpochCorrections::lengthen(EpochIndex old, Position end, const Arrival& arrival) {
    EpochHistory& history = line_.epochs.history();
    const bool quotes_stand = history.has_unforgotten(old);
    history.at(old).end = end;
    Epoch& next = history.at(old + 1);
    const Forget forget =
        next.by_reset ? line_.epochs.forget_of(next.reset, history.at(old), end) : Forget::nothing;
    const bool is_more = forget > history.forgotten_since(old);
    next.forget = std::max(next.forget, forget);
    if (is_more && quotes_stand) {
        line_.flushed.note(line_.sequencer.expected());
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

void EpochCorrections::lower_begin(const Arrival& arrival, Position begin) {
    Epoch& current = line_.epochs.current();
    PINSTRIKE_CHECK(current.begin == line_.sequencer.begin());
    arrival.sink.missing(begin, current.begin, arrival.ts_ns(), current.first_ts_ns);
    line_.sequencer.lower_begin(begin, arrival.ts_ns(), arrival.sink);
    current.begin = begin;
}

void EpochCorrections::note_before_start(const Arrival& reset) {
    line_.counters().bump(LineCount::resets);
    line_.epochs.at(0).note_reported_late(ResetIdentity::of(reset.block));
    line_.epochs.note_reset_ts(reset.ts_ns());
    reset.sink.reset(reset.block, Forget::nothing, false);
}

void EpochCorrections::adopt(const Arrival& reset) {
    const Block& block = reset.block;
    Epoch& current = line_.epochs.current();
    PINSTRIKE_CHECK(current.inferred && !current.by_reset);
    line_.counters().bump(LineCount::resets);
    current.by_reset = true;
    current.reset = ResetIdentity::of(block);
    line_.epochs.note_reset_ts(reset.ts_ns());
    const Position begin = line_.epochs.nearest_to(current.begin, block);
    current.begin_ts_ns = reset.ts_ns();
    if (begin < current.begin && current.begin - begin <= rollover_messages) {
        lower_begin(reset, begin);
    }
    Forget forget = Forget::nothing;
    if (block.role == BlockRole::start_of_day && current.forget != Forget::day) {
        forget = current.forget = Forget::day;
    }
    reset.sink.reset(block, forget, false);
    line_.stream_of(reset).join(line_.epochs.current_index(), true);
}

void EpochCorrections::note_within(const Arrival& reset) {
    const Block& block = reset.block;
    Epoch& current = line_.epochs.current();
    const Position next = line_.epochs.nearest_to(line_.sequencer.expected(), block);
    const bool wrapped = line_.numbering().turn_of(next) > line_.numbering().turn_of(current.begin);
    Forget forget = Forget::nothing;
    if (block.role == BlockRole::start_of_day) {
        forget = Forget::day;
    } else if (wrapped && block.sequence != 1) {
        forget = Forget::quotes;
    }
    if (forget != Forget::nothing) {
        line_.flushed.note(next);
    }
    line_.counters().bump(LineCount::resets);
    current.note_reported_late(ResetIdentity::of(block));
    reset.sink.reset(block, forget, false);
}

/// Reports what the reset makes consumers forget. Data that follows it may still come late, so an
/// epoch is inserted before the current one, unless some of that data was already taken for a
/// continuation of the numbers before it.
void EpochCorrections::note_overtaken(const Arrival& reset) {
    const Block& block = reset.block;
    Epoch& current = line_.epochs.current();
    const EpochIndex index = line_.epochs.current_index() - 1;
    const Epoch& before = line_.epochs.at(index);
    // Nothing was delivered before the first block, so there is nothing to forget.
    const Forget forget = before.numbered
                              ? line_.epochs.forget_of(ResetIdentity::of(block), before, before.end)
                              : Forget::nothing;
    line_.counters().bump(LineCount::resets);
    current.note_reported_late(ResetIdentity::of(block));
    reset.sink.reset(block, forget > current.forget ? forget : Forget::nothing, false);
    current.forget = std::max(current.forget, forget);
    const Numbering& numbering = line_.numbering();
    const Position next = numbering.turn_of(before.end) + number_of(block, numbering);
    const Position begin = next + 2 * numbering.last;
    const bool mixed = std::ranges::any_of(line_.streams, [&](const StreamState& stream) {
        return stream.epoch == index && stream.newest_ts_ns > block.ts_exchange_ns;
    });
    if (before.numbered && !mixed && begin + numbering.last < current.begin) {
        insert_epoch(reset, begin, forget);
    } else if (before.numbered && next > before.end) {
        lengthen(index, next,
                 reset);  // it raised the numbers, so the numbers that it skipped are not missing
    }
}

/// Inserts an epoch between the current one and the one before it.
void EpochCorrections::insert_epoch(const Arrival& reset, Position begin, Forget forget) {
    const EpochIndex index = line_.epochs.current_index() - 1;
    Epoch between;
    between.begin = between.end = begin;
    between.numbered = between.by_reset = true;
    between.forget = forget;
    between.reset = ResetIdentity::of(reset.block);
    between.begin_ts_ns = between.first_ts_ns = between.newest_ts_ns = reset.ts_ns();
    const Epoch latest = line_.epochs.current();
    line_.epochs.history().open() = latest;  // the current epoch gets the next index
    line_.epochs.at(index + 1) = between;
    for (StreamState& stream : line_.streams) {
        stream.epoch += stream.epoch > index ? 1 : 0;
    }
    if (StreamState& stream = line_.stream_of(reset); stream.epoch <= index) {
        stream.join(index + 1, true);
    }
}

}  // namespace pinstrike::feed
