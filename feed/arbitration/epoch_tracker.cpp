// path: hot
#include "feed/arbitration/epoch_tracker.h"

#include "config/check.h"
#include "feed/arbitration/arrival.h"

#include <algorithm>

namespace pinstrike::feed {

namespace {

/// Two epochs that only numbers can distinguish are at least this many messages apart.
constexpr std::uint64_t reorder_messages = 256;
/// Leaves space for an epoch that is inserted in between (epoch_corrections.h).
constexpr Position turns_between_epochs = 16;

std::uint64_t distance(Position a, Position b) {
    return a < b ? b - a : a - b;
}

}  // namespace

EpochIndex EpochTracker::epoch_of(const Block& block, const StreamState& stream) {
    EpochIndex index = stream.epoch;
    PINSTRIKE_CHECK(history_.oldest_index() <= index && index <= current_index());
    for (EpochIndex i = current_index(); i > index; --i) {
        if (belongs_to(block, history_.at(i), stream)) {
            return i;
        }
    }
    // A stream that delivered a reset may still deliver blocks from before it, out of order. They
    // belong to the newest epoch that does not begin after the block.
    while (index > history_.oldest_index() && precedes(block, history_.at(index))) {
        --index;
    }
    return index;
}

/// Whether a block of a stream that is behind this epoch belongs to it.
bool EpochTracker::belongs_to(const Block& block, const Epoch& epoch,
                              const StreamState& stream) const {
    if (!epoch.repeats && block.ts_exchange_ns != epoch.begin_ts_ns) {
        return block.ts_exchange_ns > epoch.begin_ts_ns;
    }
    const Numbering& numbering = sequencer_.numbering();
    const std::uint64_t number = number_of(block, numbering);
    if (number == stream.next_number) {
        return false;
    }
    const Position end = end_of(epoch);
    const Position position = numbering.nearest(end, number);
    const bool fits = position >= epoch.begin && position <= end + lag_messages;
    if (!epoch.repeats) {
        return fits;
    }
    const Position own =
        stream.next_number == 0 ? position : numbering.nearest(end, stream.next_number);
    return fits && distance(own, position) > reorder_messages;
}

EpochIndex EpochTracker::epoch_of_repair(const Block& block) {
    if (!sequencer_.numbering().infers_resets) {
        return current_index();  // the codec drops blocks of earlier sessions
    }
    for (EpochIndex i = current_index(); i > history_.oldest_index(); --i) {
        const Epoch& epoch = history_.at(i);
        if (precedes(block, epoch)) {
            continue;
        }
        const Position begin = sequencer_.numbering().nearest(end_of(epoch), block.sequence);
        const Position end = begin + block.messages;
        const bool clear = !epoch.repeats && block.ts_exchange_ns > epoch.begin_ts_ns;
        const bool open =
            is_current(i) && end > sequencer_.expected() && begin < sequencer_.known_end();
        if (clear || open || sequencer_.gaps().touches(begin, end)) {
            return i;
        }
    }
    return history_.oldest_index();
}

bool EpochTracker::leads_up_to_inferred(const Block& block) {
    const Epoch& epoch = current();
    PINSTRIKE_CHECK(!epoch.inferred || current_index() > history_.oldest_index());
    if (!epoch.inferred || epoch.by_reset || block.role != BlockRole::data ||
        block.ts_exchange_ns >= epoch.begin_ts_ns ||
        block.ts_exchange_ns <= history_.at(current_index() - 1).newest_ts_ns) {
        return false;
    }
    const Position position = sequencer_.numbering().nearest(epoch.begin, block.sequence);
    return position < epoch.begin && epoch.begin - position <= lag_messages;
}

bool EpochTracker::is_of_current(const Block& block, const StreamState& stream) const {
    const Epoch& epoch = current();
    return is_current(stream.epoch) ||
           (epoch.numbered && !epoch.repeats && block.ts_exchange_ns > epoch.begin_ts_ns);
}

ResetKind EpochTracker::classify(const Block& reset, const StreamState& stream) {
    const ResetIdentity identity = ResetIdentity::of(reset);
    const Epoch& epoch = current();
    const std::int64_t ts_ns = identity.ts_exchange_ns;
    if (history_.begun_by(identity, stream.epoch) != 0) {
        return ResetKind::second_copy;
    }
    if (is_late_copy(identity, stream)) {
        return ResetKind::late_copy;
    }
    if (epoch.by_reset && epoch.reset == identity) {
        return ResetKind::repeated;
    }
    if (epoch.was_reported_late(identity)) {
        return ResetKind::known;
    }
    if (precedes_start(reset, stream)) {
        return ResetKind::before_start;
    }
    if (precedes_inferred(reset, stream)) {
        return ResetKind::of_inferred;
    }
    if (is_within_current(reset)) {
        return ResetKind::within;
    }
    if (precedes_reset(reset)) {
        return ResetKind::overtaken;
    }
    const bool old = ts_ns < epoch.begin_ts_ns || ts_ns < sequencer_.newest_ts_ns();
    return epoch.numbered && !leads_up_to(stream, ts_ns) && old ? ResetKind::stale
                                                                : ResetKind::next;
}

/// Whether this is the stream's first copy of the reset that began the current epoch, which the
/// stream joined by later blocks. Older packets may follow it out of order; that is no loop.
bool EpochTracker::is_late_copy(const ResetIdentity& reset, const StreamState& stream) const {
    return current().by_reset && !current().repeats && current().reset == reset &&
           is_current(stream.epoch) && !stream.brought_reset;
}

/// Whether the reset is from before the first block received: its stream has not reached that
/// block, or it is the reset just before it.
bool EpochTracker::precedes_start(const Block& reset, const StreamState& stream) {
    const Epoch& first = history_.at(0);
    if (history_.oldest_index() != 0 || !first.numbered || stream.epoch != 0 ||
        reset.ts_exchange_ns >= first.first_ts_ns ||
        first.was_reported_late(ResetIdentity::of(reset))) {
        return false;
    }
    return !has_come_to_start(stream) || nearest_to(first.begin, reset) == first.begin;
}

/// Whether this is the slower stream's copy of the reset that began the inferred current epoch.
bool EpochTracker::precedes_inferred(const Block& reset, const StreamState& stream) {
    const Epoch& epoch = current();
    const std::int64_t ts_ns = reset.ts_exchange_ns;
    if (!epoch.inferred || epoch.by_reset || ts_ns > epoch.first_ts_ns ||
        !is_behind_epoch_before(reset)) {
        return false;
    }
    const Position begin = nearest_to(epoch.begin, reset);
    const bool exact = begin == epoch.begin;
    if (begin > epoch.begin || (ts_ns == epoch.first_ts_ns && !exact)) {
        return false;
    }
    const bool has_later = is_current(stream.epoch) && stream.newest_ts_ns > ts_ns;
    return exact || !has_later;
}

/// Whether this reset can have ended the epoch before the current one. A reset stamped before that
/// epoch belongs to an older numbering, which the slower stream has not left; and a reset that was
/// reported in that epoch did not end it.
bool EpochTracker::is_behind_epoch_before(const Block& reset) {
    PINSTRIKE_CHECK(current_index() > history_.oldest_index());
    const Epoch& before = history_.at(current_index() - 1);
    const bool known = before.was_reported_late(ResetIdentity::of(reset));
    return !known && (before.repeats || reset.ts_exchange_ns > before.begin_ts_ns);
}

/// Whether the faster stream lost this reset, which raised the numbers or led over the wrap. The
/// numbers that it skipped were declared lost, and those after it were delivered.
bool EpochTracker::is_within_current(const Block& reset) const {
    const Epoch& epoch = current();
    const std::int64_t ts_ns = reset.ts_exchange_ns;
    if (!epoch.numbered || epoch.repeats || ts_ns < epoch.begin_ts_ns ||
        ts_ns >= sequencer_.newest_ts_ns()) {
        return false;
    }
    const Position next = nearest_to(sequencer_.expected(), reset);
    const bool began_again = epoch.by_reset && next == epoch.begin &&
                             reset.role == BlockRole::reset && ts_ns > epoch.begin_ts_ns;
    return (next > epoch.begin && next <= sequencer_.expected()) || began_again;
}

/// Whether the faster stream lost this reset, or delivered it out of order, and the next one began
/// the current epoch.
bool EpochTracker::precedes_reset(const Block& reset) {
    const Epoch& epoch = current();
    if (!epoch.by_reset || epoch.repeats || current_index() == history_.oldest_index()) {
        return false;
    }
    const std::int64_t ts_ns = reset.ts_exchange_ns;
    return ts_ns < epoch.begin_ts_ns && ts_ns > history_.at(current_index() - 1).newest_ts_ns &&
           !history_.knows(ResetIdentity::of(reset));
}

Forget EpochTracker::forget_of(const ResetIdentity& reset, const Epoch& old, Position end) const {
    if (reset.role != BlockRole::reset) {
        return Forget::day;
    }
    if (!old.numbered) {
        return Forget::nothing;
    }
    const Numbering& numbering = sequencer_.numbering();
    const std::uint64_t last =
        numbering.number_at(end) - 1;  // right after the wrap E is 1, which no reset lowers
    if (reset.sequence >= last) {
        return Forget::nothing;
    }
    // In a rollover the numbers continue across the wrap. A reset to 1 that follows a wrap without
    // a reset is not a rollover, because the numbers after it would be taken for those before it.
    const bool rollover = reset.sequence == 1 && last > numbering.last + 1 - rollover_messages;
    return rollover ? Forget::nothing : Forget::quotes;
}

Position EpochTracker::nearest_to(Position anchor, const Block& block) const {
    const Numbering& numbering = sequencer_.numbering();
    return numbering.nearest(anchor, number_of(block, numbering));
}

void EpochTracker::start(Position begin, std::int64_t ts_exchange_ns) {
    Epoch& epoch = current();
    PINSTRIKE_CHECK(!epoch.numbered);
    epoch.begin = begin;
    epoch.numbered = true;
    epoch.begin_ts_ns = epoch.first_ts_ns = ts_exchange_ns;
}

void EpochTracker::open(const Block& reset, bool repeats, bool inferred, Forget forget) {
    const Numbering& numbering = sequencer_.numbering();
    const Position end = sequencer_.expected();
    PINSTRIKE_CHECK(current().begin <= end);
    current().end = end;
    current().newest_ts_ns = sequencer_.newest_ts_ns();
    Epoch& epoch = history_.open();
    epoch.begin = numbering.turn_of(end) + turns_between_epochs * numbering.last +
                  number_of(reset, numbering);
    PINSTRIKE_CHECK(epoch.begin > end);
    epoch.numbered = true;
    epoch.repeats = repeats;
    epoch.by_reset = !inferred;
    epoch.inferred = inferred;
    epoch.forget = forget;
    epoch.reset = ResetIdentity::of(reset);
    epoch.begin_ts_ns = epoch.first_ts_ns = reset.ts_exchange_ns;
    note_reset_ts(reset.ts_exchange_ns);
}

void EpochTracker::note_reset_ts(std::int64_t ts_exchange_ns) {
    newest_reset_ts_ns_ = std::max(newest_reset_ts_ns_, ts_exchange_ns);
}

}  // namespace pinstrike::feed
