// path: mixed, cold: construction
#include "feed/arbitration/sequencer.h"

namespace pinstrike::feed {

namespace {

/// Lists a gap. If the list is full, removes the oldest gaps before `begin_of_numbering`: nothing
/// fills gaps of numberings that have ended, and over weeks there can be many.
bool list_gap(GapSet& gaps, const PositionRange& gap, Position begin_of_numbering,
              LineCounters& counters, ArbiterSink& sink) {
    if (gaps.add(gap.begin, gap.end)) {
        return true;
    }
    std::uint64_t messages = 0;
    const PositionRange gone = gaps.drop_oldest(begin_of_numbering, messages);
    counters.bump(LineCount::gaps_unlisted, messages);
    if (messages != 0) {
        sink.found(gone.begin, gone.end);
    }
    return messages != 0 && gaps.add(gap.begin, gap.end);
}

}  // namespace

// --- cold ---

Sequencer::Sequencer(const ArbitrationConfig& config, const Numbering& numbering)
    : last_number_(numbering.last),
      numbering_(numbering),
      gaps_(config.gap_ranges),
      held_(config.hold_bytes, config.window_ns, numbering) {}

std::size_t Sequencer::memory_bytes(const ArbitrationConfig& config) {
    return HeldBlocks::memory_bytes(config.hold_bytes) + GapSet::memory_bytes(config.gap_ranges);
}

// --- hot ---

void Sequencer::refresh(std::int64_t earliest_ts_ns) {
    PINSTRIKE_CHECK(begin_ == 0 || begin_ <= expected());
    PINSTRIKE_CHECK(held_.empty() || held_.front().begin > expected());
    earliest_ts_ns_ = earliest_ts_ns;
    in_order_ = begin_ != 0 && held_.empty() ? expected_number_ : no_number;
    duplicates_from_ = no_number;
    if (begin_ != 0) {
        Position from = std::max(begin_, turn_ + 1);
        if (!gaps_.ranges().empty()) {
            from = std::max(from, std::min(gaps_.ranges().back().end, expected()));
        }
        duplicates_from_ = from - turn_;
    }
}

void Sequencer::start(Position begin, std::int64_t newest_ts_ns) {
    PINSTRIKE_CHECK(held_.empty());
    PINSTRIKE_CHECK(begin_ == 0 || begin > expected());
    begin_ = begin;
    newest_ts_ns_ = newest_ts_ns;
    expect(begin);
}

void Sequencer::lower_begin(Position begin, std::int64_t ts_exchange_ns, ArbiterSink& sink) {
    PINSTRIKE_CHECK(begin < begin_);
    counters_.bump(LineCount::highest, begin_ - begin);
    declare_lost(begin, begin_, GapCause::line, ts_exchange_ns, sink);
    begin_ = begin;
}

void Sequencer::learn(const Arrival& arrival, Position begin, Position end) {
    const Position known = known_end();
    if (begin > known) {
        arrival.note_missing(known, begin, known_ts_ns());
    } else if (begin < known && begin != end) {
        arrival.sink.found(begin, std::min(end, known));
    }
    if (end > known) {
        counters_.bump(LineCount::highest, end - known);
    }
}

void Sequencer::note_existence(const Arrival& arrival, Position end) {
    const HoldEntry* entry = held_.find(end - 1);  // the last number is held, or known to exist
    if (end <= expected() || (entry != nullptr && entry->begin <= end)) {
        return;
    }
    learn(arrival, end, end);
    if (!wait(arrival, {end, end, nullptr, HoldEntry::Kind::evidence}, 0)) {
        pass(end, arrival.block);
    }
}

bool Sequencer::wait(const Arrival& arrival, const HoldEntry& entry, unsigned first) {
    release(arrival.sink);  // earlier messages of the same block may have been delivered
    const bool is_first = held_.empty() || entry.begin < held_.front().begin;
    if (is_first && !held_.left_out().empty()) [[unlikely]] {
        expect(held_.left_out().pass({expected(), entry.begin, newest_ts_ns_, arrival.ts_ns()}));
    }
    while (entry.begin != expected()) {
        PINSTRIKE_CHECK(entry.begin > expected());
        if (held_.keep(entry, arrival.block, first, arrival.source, arrival.now_ns)) {
            return true;
        }
        counters_.bump(LineCount::holds_cut_short);
        if (held_.empty() || entry.begin < held_.front().begin) {
            expire_first_hole(entry.begin, arrival.ts_ns(), arrival.sink);
        } else {
            expire_first_hole(held_.front().begin, held_.front().ts_ns(), arrival.sink);
        }
    }
    return false;
}

void Sequencer::pass(Position end, const Block& block) {
    PINSTRIKE_CHECK(end >= expected());
    expect(end);
    newest_ts_ns_ = std::max(newest_ts_ns_, block.ts_exchange_ns);
}

void Sequencer::deliver(const Block& block, unsigned first, unsigned count, Position begin,
                        DeliveryFlags flags, ArbiterSink& sink) {
    counters_.bump(LineCount::delivered, count);
    delivering_ = begin;
    sink.deliver(block, first, count, flags);
    delivering_ = 0;
}

void Sequencer::release(ArbiterSink& sink) {
    while (!held_.empty()) {
        const HoldEntry& first = held_.front();
        if (!held_.left_out().empty()) [[unlikely]] {
            expect(held_.left_out().pass({expected(), first.begin, newest_ts_ns_, first.ts_ns()}));
        }
        if (first.begin > expected()) {
            return;
        }
        const HoldEntry entry = held_.pop_front();
        const HeldBlock& held = *entry.held;
        pass(entry.end, held.block);
        if (entry.kind == HoldEntry::Kind::messages) {
            const DeliveryFlags flags = held.source == Source::repair ? flag_retransmitted : 0;
            deliver(held.block, held.first, unsigned{held.last} - held.first, entry.begin, flags,
                    sink);
        }
        held_.release(entry.held);
    }
}

void Sequencer::declare_lost(Position begin, Position end, GapCause cause,
                             std::int64_t ts_exchange_ns, ArbiterSink& sink) {
    PINSTRIKE_CHECK(begin < end);
    if (!list_gap(gaps_, {begin, end}, begin_, counters_, sink)) {
        counters_.bump(LineCount::gaps_unlisted, end - begin);
        sink.found(begin, end);  // nothing fills numbers that are not listed
    }
    counters_.bump(LineCount::gaps);
    counters_.bump(LineCount::lost, end - begin);
    sink.gap(numbering_.number_at(begin), numbering_.number_at(end - 1), end - begin, cause,
             ts_exchange_ns, 0);
}

bool Sequencer::unlist(Position begin, Position end, ArbiterSink& sink) {
    if (!gaps_.remove(begin, end)) {
        return false;
    }
    const std::uint64_t count = end - begin;
    Counter& lost = counters_.at(LineCount::lost);
    PINSTRIKE_CHECK(lost.read() >= count);
    lost.set(lost.read() - count);
    sink.found(begin, end);
    return true;
}

/// Gives up the numbers from the expected one to `end`. Messages of an earlier time may follow
/// those of the newest time, so the block behind the hole limits its time too.
void Sequencer::expire_first_hole(Position end, std::int64_t ts_behind_ns, ArbiterSink& sink) {
    LeftOutNumbers& left_out = held_.left_out();
    while (expected() < end) {
        const Hole hole{expected(), end, newest_ts_ns_, ts_behind_ns};
        const Position lost_end = left_out.first_in(hole).begin;
        if (lost_end != expected()) {
            declare_lost(expected(), lost_end, GapCause::line,
                         std::min(newest_ts_ns_, ts_behind_ns), sink);
        }
        expect(left_out.pass({lost_end, end, newest_ts_ns_, ts_behind_ns}));
    }
    release(sink);
}

void Sequencer::expire(std::int64_t now_ns, ArbiterSink& sink) {
    while (!held_.empty() && now_ns >= held_.deadline_ns()) {
        expire_first_hole(held_.front().begin, held_.front().ts_ns(), sink);
    }
}

}  // namespace pinstrike::feed
