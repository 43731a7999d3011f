// path: mixed, cold: construction
#include "feed/arbitration/sequencer.h"

#include "config/check.h"

namespace pinstrike::feed {

// --- cold ---

Sequencer::Sequencer(const ArbitrationConfig& config, const Numbering& numbering)
    : last_number_(numbering.last),
      numbering_(numbering),
      window_ns_(std::max<std::int64_t>(config.window_ns, 0)),
      gaps_(config.gap_ranges),
      arena_(config.hold_bytes),
      queue_(arena_.records_max()) {}

std::size_t Sequencer::memory_bytes(const ArbitrationConfig& config) {
    const std::size_t records_max = config.hold_bytes / sizeof(HeldBlock) + 1;
    return config.hold_bytes + HoldQueue::memory_bytes(records_max) +
           GapSet::memory_bytes(config.gap_ranges);
}

// --- hot ---

void Sequencer::refresh(std::int64_t earliest_ts_ns) {
    PINSTRIKE_CHECK(begin_ == 0 || begin_ <= expected());
    PINSTRIKE_CHECK(queue_.empty() || queue_.front().begin > expected());
    PINSTRIKE_CHECK(queue_.empty() == arena_.empty());
    earliest_ts_ns_ = earliest_ts_ns;
    in_order_ = begin_ != 0 && queue_.empty() ? expected_number_ : no_number;
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
    PINSTRIKE_CHECK(queue_.empty());
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
    const HoldEntry* entry = queue_.find(end - 1);  // the last number is held, or known to exist
    if (end <= expected() || (entry != nullptr && entry->begin <= end)) {
        return;
    }
    learn(arrival, end, end);
    if (!wait(arrival, {end, end, nullptr, HoldEntry::Kind::evidence}, 0)) {
        pass(end, arrival.block);
    }
}

bool Sequencer::wait(const Arrival& arrival, const HoldEntry& entry, unsigned first) {
    Block block = arrival.block;
    if (entry.kind != HoldEntry::Kind::messages) {
        block.bytes = {};
    }
    const auto from = static_cast<std::uint16_t>(first);
    const auto to = static_cast<std::uint16_t>(first + (entry.end - entry.begin));
    release(arrival.sink);  // earlier messages of the same block may have been delivered
    while (entry.begin != expected()) {
        PINSTRIKE_CHECK(entry.begin > expected());
        HeldBlock* held =
            queue_.full() ? nullptr : arena_.keep(block, from, to, arrival.source, arrival.now_ns);
        if (held != nullptr) {
            queue_.insert({entry.begin, entry.end, held, entry.kind});
            return true;
        }
        counters_.bump(LineCount::holds_cut_short);
        expire_first_hole(entry.begin, arrival.sink);
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
    while (!queue_.empty() && queue_.front().begin <= expected()) {
        const HoldEntry entry = queue_.front();
        const HeldBlock& held = *entry.held;
        queue_.pop_front();
        pass(entry.end, held.block);
        if (entry.kind == HoldEntry::Kind::messages) {
            const DeliveryFlags flags = held.source == Source::repair ? flag_retransmitted : 0;
            deliver(held.block, held.first, unsigned{held.last} - held.first, entry.begin, flags,
                    sink);
        }
        arena_.release(entry.held);
    }
}

void Sequencer::declare_lost(Position begin, Position end, GapCause cause,
                             std::int64_t ts_exchange_ns, ArbiterSink& sink) {
    PINSTRIKE_CHECK(begin < end);
    if (!list_gap(begin, end, sink)) {
        counters_.bump(LineCount::gaps_unlisted, end - begin);
        sink.found(begin, end);  // nothing fills numbers that are not listed
    }
    counters_.bump(LineCount::gaps);
    counters_.bump(LineCount::lost, end - begin);
    sink.gap(numbering_.number_at(begin), numbering_.number_at(end - 1), end - begin, cause,
             ts_exchange_ns);
}

/// If the list is full, removes the oldest gaps of numberings that have ended. Nothing fills them
/// any more, and over weeks there can be many.
bool Sequencer::list_gap(Position begin, Position end, ArbiterSink& sink) {
    if (gaps_.add(begin, end)) {
        return true;
    }
    std::uint64_t messages = 0;
    const PositionRange gone = gaps_.drop_oldest(begin_, messages);
    counters_.bump(LineCount::gaps_unlisted, messages);
    if (messages != 0) {
        sink.found(gone.begin, gone.end);
    }
    return messages != 0 && gaps_.add(begin, end);
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

/// Gives up the numbers from E to the first held one, or to `limit` if that comes first.
void Sequencer::expire_first_hole(Position limit, ArbiterSink& sink) {
    const Position begin = expected();
    const Position end = queue_.empty() ? limit : std::min(limit, queue_.front().begin);
    declare_lost(begin, end, GapCause::line, newest_ts_ns_, sink);
    expect(end);
    release(sink);
}

void Sequencer::expire(std::int64_t now_ns, ArbiterSink& sink) {
    while (!queue_.empty() && now_ns >= deadline_ns()) {
        expire_first_hole(queue_.back().end, sink);
    }
}

void Sequencer::expire_all(ArbiterSink& sink) {
    while (!queue_.empty()) {
        expire_first_hole(queue_.back().end, sink);
    }
}

void Sequencer::note_flush_at(std::uint64_t number) {
    if (number != 0) {
        const Position anchor = delivering_ != 0 ? delivering_ : expected();
        note_flush(numbering_.nearest(anchor, number));
    }
}

}  // namespace pinstrike::feed
