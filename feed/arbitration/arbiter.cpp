// path: hot
#include "feed/arbitration/arbiter.h"

#include "config/check.h"
#include "config/mistake.h"

namespace pinstrike::feed {

namespace {

/// An epoch that is over is not found to have been longer by more than this: such a number is of
/// another one, that nobody knows of.
constexpr std::uint64_t jump_messages = 1 << 20;

}  // namespace

// --- cold ---

Arbiter::Arbiter(const ArbitrationConfig& config)
    : window_ns_(std::max<std::int64_t>(config.window_ns, 0)),
      gaps_(config.gap_ranges),
      arena_(config.hold_bytes),
      queue_(arena_.records_max()),
      aside_(config.hold_bytes) {}

std::size_t Arbiter::memory_bytes(const ArbitrationConfig& config) {
    const std::size_t arenas_bytes = 2 * config.hold_bytes;  // arena_ and aside_
    const std::size_t records_max = config.hold_bytes / sizeof(HeldBlock) + 1;
    return sizeof(Arbiter) + arenas_bytes + HoldQueue::memory_bytes(records_max) +
           GapSet::memory_bytes(config.gap_ranges);
}

std::vector<Arbiter::NumberRange> Arbiter::gaps() const {
    std::vector<NumberRange> ranges;
    for (const PositionRange& gap : gaps_.ranges()) {
        for (Position begin = gap.begin; begin < gap.end;) {
            const Position end = std::min(gap.end, turn_of(begin) + numbers_per_turn + 1);
            ranges.push_back({number_at(begin), number_at(end - 1)});
            begin = end;
        }
    }
    return ranges;
}

// --- hot ---

void Arbiter::admit_slow(const Block& block, Stream stream, std::int64_t now_ns,
                         ArbiterSink& sink) {
    step(now_ns, sink);
    const Source source =
        block.retransmitted ? Source::repair : static_cast<Source>(static_cast<int>(stream));
    Block stamped = block;
    const Arrival arrival{stamped, 0, block.messages, source, now_ns, sink};
    if (arrival.original() && block.role == BlockRole::data && is_of_current(arrival)) {
        stamped.ts_exchange_ns = first_stamp_of(block, sink);  // its own, as a rule
        counters_.bump(LineCount::copies_restamped,
                       stamped.ts_exchange_ns != block.ts_exchange_ns ? 1 : 0);
    }
    if (arrival.original() && block.role == BlockRole::data) {
        state_of(stream).counters.bump(StreamCount::messages, block.messages);
    }
    process(arrival);
    refresh();
    step(now_ns, sink);
}

/// The time of the first copy of this data block of the current epoch. If there is none, the block
/// is the first copy and is stored.
std::int64_t Arbiter::first_stamp_of(const Block& block, const ArbiterSink& sink) {
    if (const auto first = sink.ts_of_copy(recent_.starts(), block)) {
        return *first;
    }
    recent_.note(block);
    return block.ts_exchange_ns;
}

void Arbiter::step(std::int64_t now_ns, ArbiterSink& sink) {
    if (now_ns >= next_deadline_ns_) {
        run_timers(now_ns, sink);
        refresh();
    }
}

void Arbiter::finish(std::int64_t now_ns, ArbiterSink& sink) {
    while (suspecting()) {  // of what was set aside, a part may be suspected anew
        refute(Source::a, now_ns, sink);
        refute(Source::b, now_ns, sink);
        if (confirmed_) {
            infer_reset(now_ns, sink);
        }
    }
    expire_all(sink);
    refresh();
}

void Arbiter::flush_at(std::uint32_t number) {
    if (number != 0) {
        const Position anchor = delivering_ != 0 ? delivering_ : expected_position();
        flushed_to_ = std::max(flushed_to_, nearest(anchor, number));
    }
}

void Arbiter::run_timers(std::int64_t now_ns, ArbiterSink& sink) {
    while (now_ns >= std::min(infer_at_ns_, believe_at_ns())) {
        if (confirmed_) {
            infer_reset(now_ns, sink);
        } else {
            believe(now_ns, sink);
        }
    }
    while (!queue_.empty() && now_ns >= deadline_after(arena_.oldest()->arrival_ns)) {
        expire_first_hole(queue_.back().end, sink);
    }
}

/// When the wait that began at this time is over; never, if the window is practically endless.
std::int64_t Arbiter::deadline_after(std::int64_t arrival_ns) const {
    return arrival_ns > never_ns - window_ns_ ? never_ns : arrival_ns + window_ns_;
}

/// Brings what admit() and the poller read up to date.
void Arbiter::refresh() {
    const Epoch& current = epochs_.current();
    in_order_ = current.numbered && queue_.empty() ? expected_number_ : no_number;
    earliest_ts_ns_ = current.repeats ? no_ts : current.begin_ts_ns;
    duplicates_from_ = ~std::uint32_t{0};
    if (current.numbered) {
        Position from = std::max(current.begin, turn_ + 1);
        if (!gaps_.ranges().empty()) {
            from = std::max(from, std::min(gaps_.ranges().back().end, expected_position()));
        }
        duplicates_from_ = static_cast<std::uint32_t>(from - turn_);
    }
    const bool calm = current.numbered && !suspecting();
    for (std::size_t i = 0; i < streams_count; ++i) {
        const bool in_current = streams_[i].epoch == epochs_.current_index();
        const bool knows_beginning = current.repeats || beginnings_[i].known.full();
        streams_[i].fast = calm && in_current && knows_beginning;
    }
    // The oldest copy arrived first, and all that wait are behind the first hole.
    next_deadline_ns_ = queue_.empty() ? never_ns : deadline_after(arena_.oldest()->arrival_ns);
    next_deadline_ns_ = std::min({next_deadline_ns_, infer_at_ns_, believe_at_ns()});
}

void Arbiter::process(const Arrival& arrival) {
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
    }
}

void Arbiter::on_data(const Arrival& arrival) {
    if (arrival.block.sequence == 0) {
        counters_.bump(LineCount::invalid_sequence);
        state_of(arrival).counters.bump(StreamCount::rejected, arrival.block.messages);
    } else if (arrival.last > arrival.first && !suspect(arrival)) {
        note_beginning(arrival);
        place(arrival, epoch_of(arrival));
    }
}

/// The control says which number was the last: it is evidence, and carries nothing.
void Arbiter::on_integrity(const Arrival& arrival) {
    if (suspect(arrival)) {
        return;
    }
    const EpochIndex index = epoch_of(arrival);
    Epoch& epoch = epochs_.at(index);
    const bool is_current = index == epochs_.current_index();
    const std::uint32_t number = number_after(arrival.block.sequence);
    if (!epoch.numbered) {
        if (is_current) {
            start_numbering(arrival.block, number);
        }
        return;
    }
    const Position end = nearest(end_of(epoch), number);
    if (precedes(arrival.block, epoch)) {
        return;
    }
    if (is_current) {
        const HoldEntry* entry = queue_.find(end - 1);  // the last number waits, or is said to be
        if (end > expected_position() && (entry == nullptr || entry->begin > end)) {
            learn(arrival, end, end);
            if (!wait(arrival, {end, end, nullptr, HoldEntry::Kind::evidence}, 0)) {
                pass(end, arrival.block);
            }
        }
    } else if (end > epoch.end && end - epoch.end <= jump_messages) {
        counters_.bump(LineCount::highest, end - epoch.end);
        note_missing(arrival, epoch.end, end, epoch.newest_ts_ns);
        declare_lost(epoch.end, end, GapCause::line, epoch.newest_ts_ns, arrival.sink);
        lengthen(index, end, arrival);
    }
}

void Arbiter::on_repair(const Arrival& arrival) {
    if (arrival.block.role != BlockRole::data) {
        counters_.bump(LineCount::retransmitted_controls);
    } else if (arrival.block.sequence == 0 || is_news(arrival.block)) {
        count_useless(arrival, arrival.last - arrival.first);
    } else {
        place(arrival, epoch_of_repair(arrival.block));
    }
}

/// Stamped behind all that is known: what was missed is not. So it is of numbers that nobody has
/// heard of, or behind a reset that has not come yet, and its number names another message here.
bool Arbiter::is_news(const Block& block) const {
    const Epoch& current = epochs_.current();
    return !current.numbered || (!current.repeats && block.ts_exchange_ns > known_ts_ns());
}

/// The program started in the middle of a day: what came before is neither known nor missing.
void Arbiter::start_numbering(const Block& block, std::uint32_t number) {
    Epoch& epoch = epochs_.current();
    epoch.begin = turn_ + number;
    epoch.numbered = true;
    epoch.begin_ts_ns = epoch.first_ts_ns = block.ts_exchange_ns;
    newest_ts_ns_ = block.ts_exchange_ns;
    expect(epoch.begin);
}

/// Stamped before the epoch: whatever its numbers, it is none of it. That leaves what is older than
/// the program's first block, or than all epochs remembered.
bool Arbiter::precedes(const Block& block, const Epoch& epoch) {
    return !epoch.repeats && block.ts_exchange_ns < epoch.begin_ts_ns;
}

/// Goes through the block's numbers, run by run of one state each.
void Arbiter::place(const Arrival& arrival, EpochIndex index) {
    const Block& block = arrival.block;
    Epoch& epoch = epochs_.at(index);
    if (!epoch.numbered && index == epochs_.current_index()) {
        start_numbering(block, block.sequence);
    }
    const Position anchor = epoch.numbered ? end_of(epoch) : turn_;
    const Placement at{index, nearest(anchor, block.sequence)};
    const Position end = at.base + arrival.last;
    Position position = at.base + arrival.first;
    const Position decodable_end = std::clamp(at.base + block.decodable, position, end);
    const bool before = !epoch.numbered || precedes(block, epoch);
    if (arrival.original() && !before && index == epochs_.current_index()) {
        doubt_waiting(arrival, at.base);
    }
    while (position < decodable_end) {
        const Run run = before ? Run{Run::State::done, position, decodable_end}
                               : run_at(index, position, decodable_end);
        place_decodable(arrival, at, run);
        position = run.end;
    }
    if (!arrival.original()) {
        count_useless(arrival, end - position);
    } else {
        StreamState& stream = state_of(arrival);
        stream.counters.bump(StreamCount::rejected, end - position);
        if (stream.epoch == index) {
            stream.next_number = number_at(end);
            stream.newest_ts_ns = block.ts_exchange_ns;
        }
    }
    while (arrival.original() && !before && position < end) {
        const Run run = run_at(index, position, end);
        place_undecodable(arrival, at, run);
        position = run.end;
    }
    drain(arrival.sink);
}

/// The longest run of one state that begins at `position` and ends no later than `end`.
Arbiter::Run Arbiter::run_at(EpochIndex index, Position position, Position end) {
    const Epoch& epoch = epochs_.at(index);
    if (position < epoch.begin) {
        return {Run::State::done, position, std::min(end, epoch.begin)};
    }
    if (const PositionRange* gap = gaps_.find(position); gap != nullptr) {
        if (gap->begin <= position) {
            return {Run::State::lost, position, std::min(end, gap->end)};
        }
        end = std::min(end, gap->begin);
    }
    const Position epoch_end = end_of(epoch);
    if (position < epoch_end) {
        return {Run::State::done, position, std::min(end, epoch_end)};
    }
    if (const HoldEntry* entry = queue_.find(position);
        index == epochs_.current_index() && entry != nullptr) {
        if (entry->begin <= position) {
            return {Run::State::done, position, std::min(end, entry->end)};
        }
        end = std::min(end, entry->begin);
    }
    return {Run::State::fresh, position, end};
}

void Arbiter::place_decodable(const Arrival& arrival, const Placement& at, const Run& run) {
    if (run.state == Run::State::lost) {
        deliver_late(arrival, at, run);
    } else if (run.state == Run::State::done) {
        count_useless(arrival, run.end - run.begin);
    } else if (!arrival.original()) {
        place_repair(arrival, at, run);
    } else if (at.epoch == epochs_.current_index()) {
        claim(arrival, at, run.begin, run.end);
    } else if (extend_old_epoch(arrival, at, run)) {
        count_accepted(arrival, run.end - run.begin);
        counters_.bump(LineCount::late, run.end - run.begin);
        deliver(arrival.block, at.index_of(run.begin),
                at.index_of(run.end) - at.index_of(run.begin), run.begin,
                late_flags(arrival, at.epoch, run.begin), arrival.sink);
    } else {
        count_useless(arrival, run.end - run.begin);
    }
}

/// A retransmission fills an open hole, and moves nothing past the highest number known.
void Arbiter::place_repair(const Arrival& arrival, const Placement& at, const Run& run) {
    Position filled = run.begin;
    if (at.epoch == epochs_.current_index()) {
        filled = std::clamp(known_end(), run.begin, run.end);
    }
    if (filled != run.begin) {
        claim(arrival, at, run.begin, filled);
    }
    count_useless(arrival, run.end - filled);
}

/// Numbers whose messages cannot be read are lost at once: the other stream carries the same bytes.
void Arbiter::place_undecodable(const Arrival& arrival, const Placement& at, const Run& run) {
    if (run.state == Run::State::lost) {
        arrival.sink.found(run.begin, run.end);
    }
    if (run.state != Run::State::fresh) {
        return;
    }
    if (at.epoch == epochs_.current_index()) {
        learn(arrival, run.begin, run.end);
        const HoldEntry entry{run.begin, run.end, nullptr, HoldEntry::Kind::undecodable};
        if (!wait(arrival, entry, at.index_of(run.begin))) {
            pass(run.end, arrival.block);
        }
    } else if (!extend_old_epoch(arrival, at, run)) {
        return;
    }
    declare_lost(run.begin, run.end, GapCause::undecodable, arrival.block.ts_exchange_ns,
                 arrival.sink);
}

/// New numbers of the current epoch: delivered if it is their turn, else they wait for it.
void Arbiter::claim(const Arrival& arrival, const Placement& at, Position begin, Position end) {
    learn(arrival, begin, end);
    count_accepted(arrival, end - begin);
    const HoldEntry entry{begin, end, nullptr, HoldEntry::Kind::messages};
    if (wait(arrival, entry, at.index_of(begin))) {
        counters_.bump(LineCount::holds);
        return;
    }
    pass(end, arrival.block);
    const DeliveryFlags flags = arrival.original() ? 0 : flag_retransmitted;
    deliver(arrival.block, at.index_of(begin), static_cast<unsigned>(end - begin), begin, flags,
            arrival.sink);
}

/// Lets the entry wait unless it is its turn; `first` is its first message within the block. Where
/// there is no room, the first holes are given up early; that may make it the entry's turn.
bool Arbiter::wait(const Arrival& arrival, const HoldEntry& entry, unsigned first) {
    Block block = arrival.block;
    if (entry.kind != HoldEntry::Kind::messages) {
        block.bytes = {};
    }
    const auto from = static_cast<std::uint16_t>(first);
    const auto to = static_cast<std::uint16_t>(first + (entry.end - entry.begin));
    drain(arrival.sink);  // of the same block, what is before the entry may have been delivered
    while (entry.begin != expected_position()) {
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

/// Numbers behind what was known of an epoch that is over: they existed, and so did those between.
/// False if they cannot belong to it.
bool Arbiter::extend_old_epoch(const Arrival& arrival, const Placement& at, const Run& run) {
    Epoch& epoch = epochs_.at(at.epoch);
    if (run.end >= epochs_.at(at.epoch + 1).begin || run.begin - epoch.end > jump_messages) {
        return false;
    }
    counters_.bump(LineCount::highest, run.end - epoch.end);
    if (run.begin != epoch.end) {
        note_missing(arrival, epoch.end, run.begin, epoch.newest_ts_ns);
        declare_lost(epoch.end, run.begin, GapCause::line, epoch.newest_ts_ns, arrival.sink);
    }
    lengthen(at.epoch, run.end, arrival);
    return true;
}

void Arbiter::deliver_late(const Arrival& arrival, const Placement& at, const Run& run) {
    const std::uint64_t count = run.end - run.begin;
    if (!gaps_.remove(run.begin, run.end)) {  // no room to say what of the gap would remain
        return count_useless(arrival, count);
    }
    Counter& lost = counters_.at(LineCount::lost);
    lost.set(lost.read() - count);
    arrival.sink.found(run.begin, run.end);
    counters_.bump(LineCount::late, count);
    count_accepted(arrival, count);
    deliver(arrival.block, at.index_of(run.begin), static_cast<unsigned>(count), run.begin,
            late_flags(arrival, at.epoch, run.begin), arrival.sink);
    arrival.sink.gap(number_at(run.begin), number_at(run.end - 1), count, GapCause::repaired,
                     arrival.block.ts_exchange_ns);
}

DeliveryFlags Arbiter::late_flags(const Arrival& arrival, EpochIndex epoch, Position begin) {
    unsigned flags = planted(Mistake::arbiter) ? 0U : unsigned{flag_late};
    if (!arrival.original()) {
        flags |= flag_retransmitted;
    }
    const Forget forgotten = epochs_.forgotten_since(epoch);
    if (forgotten == Forget::day) {
        flags |= flag_before_day;
    }
    if (forgotten != Forget::nothing || begin < flushed_to_) {
        flags |= flag_before_flush;
    }
    return static_cast<DeliveryFlags>(flags);
}

void Arbiter::count_accepted(const Arrival& arrival, std::uint64_t messages) {
    if (arrival.original()) {
        state_of(arrival).counters.bump(StreamCount::accepted, messages);
    } else {
        counters_.bump(LineCount::repaired, messages);
    }
}

void Arbiter::count_useless(const Arrival& arrival, std::uint64_t messages) {
    if (arrival.original()) {
        state_of(arrival).counters.bump(StreamCount::duplicate, messages);
    } else {
        counters_.bump(LineCount::unasked, messages);
    }
}

/// Behind the highest number known to have existed.
Position Arbiter::known_end() const {
    return queue_.empty() ? expected_position() : queue_.back().end;
}

/// Of the last block known of.
std::int64_t Arbiter::known_ts_ns() const {
    return queue_.empty() ? newest_ts_ns_ : queue_.back().held->block.ts_exchange_ns;
}

/// Numbers that nothing was known of until now, or that were missing: those before them existed.
void Arbiter::learn(const Arrival& arrival, Position begin, Position end) {
    const Position known = known_end();
    if (begin > known) {
        note_missing(arrival, known, begin, known_ts_ns());
    } else if (begin < known && begin != end) {
        arrival.sink.found(begin, std::min(end, known));
    }
    if (end > known) {
        counters_.bump(LineCount::highest, end - known);
    }
}

/// The arrival shows that they are missing, so it is stamped behind them.
void Arbiter::note_missing(const Arrival& arrival, Position begin, Position end,
                           std::int64_t ts_before_ns) {
    const std::int64_t ts_ns = arrival.block.ts_exchange_ns;
    arrival.sink.missing(begin, end, std::min(ts_before_ns, ts_ns), std::max(ts_before_ns, ts_ns));
}

void Arbiter::declare_lost(Position begin, Position end, GapCause cause,
                           std::int64_t ts_exchange_ns, ArbiterSink& sink) {
    if (!list_gap(begin, end, sink)) {
        counters_.bump(LineCount::gaps_unlisted, end - begin);
        sink.found(begin, end);  // nothing would fill what is not listed
    }
    counters_.bump(LineCount::gaps);
    counters_.bump(LineCount::lost, end - begin);
    sink.gap(number_at(begin), number_at(end - 1), end - begin, cause, ts_exchange_ns);
}

/// Where the list is full, the oldest gaps give way, of numberings that are over: nothing fills
/// them any more, and in weeks there can be many.
bool Arbiter::list_gap(Position begin, Position end, ArbiterSink& sink) {
    if (gaps_.add(begin, end)) {
        return true;
    }
    std::uint64_t messages = 0;
    const PositionRange gone = gaps_.drop_oldest(epochs_.current().begin, messages);
    counters_.bump(LineCount::gaps_unlisted, messages);
    if (messages != 0) {
        sink.found(gone.begin, gone.end);
    }
    return messages != 0 && gaps_.add(begin, end);
}

/// Gives up the numbers from E to the first that waits, or to `limit` if that is before it.
void Arbiter::expire_first_hole(Position limit, ArbiterSink& sink) {
    const Position begin = expected_position();
    const Position end = queue_.empty() ? limit : std::min(limit, queue_.front().begin);
    PINSTRIKE_CHECK(begin < end);
    declare_lost(begin, end, GapCause::line, newest_ts_ns_, sink);
    expect(end);
    drain(sink);
}

void Arbiter::expire_all(ArbiterSink& sink) {
    while (!queue_.empty()) {
        expire_first_hole(queue_.back().end, sink);
    }
}

/// Delivers what waited for E, and what waited for that.
void Arbiter::drain(ArbiterSink& sink) {
    while (!queue_.empty() && queue_.front().begin <= expected_position()) {
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

void Arbiter::deliver(const Block& block, unsigned first, unsigned count, Position begin,
                      DeliveryFlags flags, ArbiterSink& sink) {
    counters_.bump(LineCount::delivered, count);
    delivering_ = begin;
    sink.deliver(block, first, count, flags);
    delivering_ = 0;
}

/// Moves E behind what this block brought, or showed to have been.
void Arbiter::pass(Position end, const Block& block) {
    expect(end);
    newest_ts_ns_ = std::max(newest_ts_ns_, block.ts_exchange_ns);
}

}  // namespace pinstrike::feed
