// path: hot
#include "feed/arbitration/block_placer.h"

#include "config/check.h"
#include "config/mistake.h"

#include <algorithm>

namespace pinstrike::feed {

void BlockPlacer::place(const Arrival& arrival, EpochIndex index) {
    const Block& block = arrival.block;
    const Epoch& epoch = line_.epochs.at(index);
    const Position anchor = epoch.numbered ? line_.epochs.end_of(epoch)
                                           : line_.numbering().turn_of(line_.sequencer.expected());
    const Placement at{index, line_.numbering().nearest(anchor, block.sequence)};
    const Position end = at.base + arrival.last;
    Position position = at.base + arrival.first;
    const Position decodable_end = std::clamp(at.base + block.decodable, position, end);
    const bool before = !epoch.numbered || EpochTracker::precedes(block, epoch);
    while (position < decodable_end) {
        const Run run = before ? Run{Run::State::done, position, decodable_end}
                               : run_at(index, position, decodable_end);
        place_decodable(arrival, at, run);
        position = run.end;
    }
    if (!arrival.original()) {
        count_useless(arrival, end - position);
    } else {
        StreamState& stream = line_.stream_of(arrival);
        stream.counters.bump(StreamCount::rejected, end - position);
        if (stream.epoch == index) {
            stream.follow(line_.numbering().number_at(end), block.ts_exchange_ns);
        }
    }
    while (arrival.original() && !before && position < end) {
        const Run run = run_at(index, position, end);
        place_undecodable(arrival, at, run);
        position = run.end;
    }
    line_.sequencer.release(arrival.sink);
}

/// The longest run of one state that begins at `position` and ends no later than `end`.
BlockPlacer::Run BlockPlacer::run_at(EpochIndex index, Position position, Position end) {
    PINSTRIKE_CHECK(position < end);
    const Epoch& epoch = line_.epochs.at(index);
    if (position < epoch.begin) {
        return {Run::State::done, position, std::min(end, epoch.begin)};
    }
    if (const PositionRange* gap = line_.sequencer.gaps().find(position); gap != nullptr) {
        if (gap->begin <= position) {
            return {Run::State::lost, position, std::min(end, gap->end)};
        }
        end = std::min(end, gap->begin);
    }
    const Position epoch_end = line_.epochs.end_of(epoch);
    if (position < epoch_end) {
        return {Run::State::done, position, std::min(end, epoch_end)};
    }
    if (const HoldEntry* entry = line_.sequencer.held().find(position);
        line_.epochs.is_current(index) && entry != nullptr) {
        if (entry->begin <= position) {
            return {Run::State::done, position, std::min(end, entry->end)};
        }
        end = std::min(end, entry->begin);
    }
    return {Run::State::fresh, position, end};
}

void BlockPlacer::place_decodable(const Arrival& arrival, const Placement& at, const Run& run) {
    if (run.state == Run::State::lost) {
        fill_gap(arrival, at, run);
    } else if (run.state == Run::State::done) {
        count_useless(arrival, run.end - run.begin);
    } else if (arrival.original()) {
        place_original(arrival, at, run);
    } else {
        place_repair(arrival, at, run);
    }
}

void BlockPlacer::place_original(const Arrival& arrival, const Placement& at, const Run& run) {
    if (line_.epochs.is_current(at.epoch)) {
        place_current(arrival, at, run.begin, run.end);
    } else if (corrections_.extend(arrival, at.epoch, run.begin, run.end)) {
        deliver_late(arrival, at, run);
    } else {
        count_useless(arrival, run.end - run.begin);
    }
}

/// A retransmission fills an open hole, and does not raise the highest number known.
void BlockPlacer::place_repair(const Arrival& arrival, const Placement& at, const Run& run) {
    Position filled = run.begin;
    if (line_.epochs.is_current(at.epoch)) {
        filled = std::clamp(line_.sequencer.known_end(), run.begin, run.end);
    }
    if (filled != run.begin) {
        place_current(arrival, at, run.begin, filled);
    }
    count_useless(arrival, run.end - filled);
}

/// Declares undecodable messages lost at once, because the other stream carries the same bytes.
void BlockPlacer::place_undecodable(const Arrival& arrival, const Placement& at, const Run& run) {
    Sequencer& sequencer = line_.sequencer;
    if (run.state == Run::State::lost) {
        arrival.sink.found(run.begin, run.end);
    }
    if (run.state != Run::State::fresh) {
        return;
    }
    if (line_.epochs.is_current(at.epoch)) {
        sequencer.learn(arrival, run.begin, run.end);
        const HoldEntry entry{run.begin, run.end, nullptr, HoldEntry::Kind::undecodable};
        if (!sequencer.wait(arrival, entry, at.index_of(run.begin))) {
            sequencer.pass(run.end, arrival.block);
        }
    } else if (!corrections_.extend(arrival, at.epoch, run.begin, run.end)) {
        return;
    }
    sequencer.declare_lost(run.begin, run.end, GapCause::undecodable, arrival.ts_ns(),
                           arrival.sink);
}

/// Delivers new numbers of the current epoch if they are next; otherwise holds them.
void BlockPlacer::place_current(const Arrival& arrival, const Placement& at, Position begin,
                                Position end) {
    Sequencer& sequencer = line_.sequencer;
    sequencer.learn(arrival, begin, end);
    count_accepted(arrival, end - begin);
    const HoldEntry entry{begin, end, nullptr, HoldEntry::Kind::messages};
    if (sequencer.wait(arrival, entry, at.index_of(begin))) {
        line_.counters().bump(LineCount::holds);
        return;
    }
    sequencer.pass(end, arrival.block);
    const DeliveryFlags flags = arrival.original() ? 0 : flag_retransmitted;
    sequencer.deliver(arrival.block, at.index_of(begin), static_cast<unsigned>(end - begin), begin,
                      flags, arrival.sink);
}

void BlockPlacer::fill_gap(const Arrival& arrival, const Placement& at, const Run& run) {
    const std::uint64_t count = run.end - run.begin;
    if (!line_.sequencer.unlist(run.begin, run.end, arrival.sink)) {
        return count_useless(arrival, count);
    }
    deliver_late(arrival, at, run);
    const Numbering& numbering = line_.numbering();
    arrival.sink.gap(numbering.number_at(run.begin), numbering.number_at(run.end - 1), count,
                     GapCause::repaired, arrival.ts_ns(), late_flags(arrival, at.epoch, run.begin));
}

void BlockPlacer::deliver_late(const Arrival& arrival, const Placement& at, const Run& run) {
    const std::uint64_t count = run.end - run.begin;
    line_.counters().bump(LineCount::late, count);
    count_accepted(arrival, count);
    line_.sequencer.deliver(arrival.block, at.index_of(run.begin), static_cast<unsigned>(count),
                            run.begin, late_flags(arrival, at.epoch, run.begin), arrival.sink);
}

DeliveryFlags BlockPlacer::late_flags(const Arrival& arrival, EpochIndex epoch, Position begin) {
    unsigned flags = planted(Mistake::arbiter) ? 0U : unsigned{flag_late};
    if (!arrival.original()) {
        flags |= flag_retransmitted;
    }
    const Forget forgotten = line_.epochs.history().forgotten_since(epoch);
    if (forgotten == Forget::day) {
        flags |= flag_before_day;
    }
    if (forgotten != Forget::nothing || line_.flushed.covers(begin)) {
        flags |= flag_before_flush;
    }
    return static_cast<DeliveryFlags>(flags);
}

void BlockPlacer::count_accepted(const Arrival& arrival, std::uint64_t messages) {
    if (arrival.original()) {
        line_.stream_of(arrival).counters.bump(StreamCount::accepted, messages);
    } else {
        line_.counters().bump(LineCount::repaired, messages);
    }
}

void BlockPlacer::count_useless(const Arrival& arrival, std::uint64_t messages) {
    if (arrival.original()) {
        line_.stream_of(arrival).counters.bump(StreamCount::duplicate, messages);
    } else {
        line_.counters().bump(LineCount::unasked, messages);
    }
}

}  // namespace pinstrike::feed
