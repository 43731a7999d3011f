// path: mixed, cold: the constructor and prefault()
//
// To give state, the book walks its table, a few slots at a time. Each series' record has the place
// that this core has reached on the series' line. Before the series, the book gives the place of
// each line. A series that the walk does not find had its first message after that place, so a
// taker whose journal has all messages after it misses nothing. To take a record, the journal must
// have everything after the place that the record covers. Then the series gets the state of the
// record, and the messages after that place are applied again by the usual rules. So there is no
// second set of rules, and a series may be taken twice. State of the time before this start cannot
// be taken so, because the messages behind it are lost: earlier_state.h merges it.
#include "actors/book/transfer/book_transfer.h"

#include "actors/book/book_messages.h"
#include "actors/book/transfer/earlier_state.h"

namespace pinstrike::actors {

BookTransfer::BookTransfer(const BookTransferConfig& config, StateRings rings, BookEntries& entries)
    : entries_(entries),
      rings_(std::move(rings)),
      journal_(config.takes ? Journal(config.journal_messages) : Journal()),
      takes_(config.takes) {}

void BookTransfer::prefault() {
    places_.prefault();
    if (takes_) {
        journal_.prefault();
    }
}

// --- hot ---

namespace {

constexpr std::size_t given_each_step = 64;    ///< small, because a giver also does its normal work
constexpr std::size_t slots_each_step = 256;   ///< slots of the table; about 2 us
constexpr std::size_t loaded_each_step = 256;  ///< larger, because a taker has just started

/// The walk stays open for this many timers after the last series, because a gap event for a full
/// ring comes after newer messages. In this time it still reaches the peer.
constexpr unsigned lingers_timers = 50;

bool of_series(feed::EventKind kind) {
    using feed::EventKind;
    return kind == EventKind::quote || kind == EventKind::trade ||
           kind == EventKind::open_interest || kind == EventKind::end_of_day;
}

/// The side in a form that does not depend on later events of the line.
BookSide resolved(BookSide side, SideState state) {
    if (state == SideState::unknown) {
        return {};  // a series that changed its line may have a mark here
    }
    lower(side, side_late);
    if (state == SideState::stale) {
        raise(side, side_stale);
    }
    if (is(side, side_elsewhere)) {
        side.sequence = 0;
    }
    return side;
}

}  // namespace

void BookTransfer::note(EventBatch batch) {
    for (const feed::Event& event : batch) {
        const LinePlace& row = places_.at(event.header.line);
        const bool waited = row.forced && !row.joined_forced();
        places_.see(event, journal_.end());
        if (waited && row.joined_forced()) [[unlikely]] {
            join_forced(event.header.line);
        }
        if (takes_ && of_series(event.header.kind)) {
            remember(event);
        }
        if (walking_ && event.header.kind == feed::EventKind::gap) [[unlikely]] {
            pass_on_loss(event);
        }
    }
}

void BookTransfer::remember(const feed::Event& event) {
    journal_.put(event, [&](const feed::Header& oldest, std::uint64_t place) {
        LinePlace& row = places_.at(oldest.line);
        constexpr unsigned before = feed::flag_before_day | feed::flag_before_flush;
        const bool counts = place >= row.remembered && (oldest.flags & before) == 0;
        row.forgot = row.forgot || counts;
        if (counts && sequence_after(oldest.sequence, row.from)) {
            row.from = oldest.sequence;
        }
    });
}

/// Called for the first message of a line from which series were taken before. Checks whether the
/// message joins their state.
void BookTransfer::join_forced(std::uint16_t number) {
    const LinePlace& row = places_.at(number);
    if (row.resets_seen()) {
        return;  // the book applies the reset itself
    }
    const std::uint32_t before = row.forced_recorded ? row.origin - 1 : row.from;
    if (sequence_after(row.forced_last, before)) {
        // The numbers began anew in between. A recording has all messages before its end, so only
        // quotes are dropped. Other state covers later messages too, so it is dropped as a whole.
        if (row.forced_recorded) {
            entries_.store.lines[number].flush_quotes(entries_.clock.skip());
        } else {
            entries_.start_day(number, entries_.clock.skip());
        }
    } else if (sequence_after(before, row.forced_first)) {
        entries_.store.lines[number].lose(entries_.clock.skip(), row.forced_first, before,
                                          PINSTRIKE_MISSING_UNKNOWN);
    }
}

void BookTransfer::pass_on_loss(const feed::Event& event) {
    const feed::Gap& gap = event.body.gap;
    if (gap.cause != feed::GapCause::ring_full) {
        return;  // other gaps come in order, so each record includes them
    }
    if (StateRecord* const record = claim(StateRecord::Kind::lost, event.header.line)) {
        record->place = places_.at(event.header.line).here;
        record->place.sequence = feed::serial_of(gap.last);
        rings_.out.publish();
    } else {
        entries_.walk_slot = 0;  // series that were given may be wrong, so all are given again
    }
}

/// The next record for the recovery thread; null: the ring has no room.
StateRecord* BookTransfer::claim(StateRecord::Kind kind, std::uint16_t line) {
    StateRecord* const record = rings_.out.claim(1);
    if (record != nullptr) {
        *record = StateRecord{};
        record->kind = kind;
        record->line = line;
    }
    return record;
}

std::size_t BookTransfer::step() {
    const std::size_t loaded = read();
    return loaded + (walking_ ? walk() : 0);
}

std::size_t BookTransfer::read() {
    const auto records = rings_.in.peek(loaded_each_step);
    std::size_t done = 0;
    for (const StateRecord& record : records) {
        if (!obey(record)) {
            break;  // the ring has no room for the answer
        }
        ++done;
    }
    rings_.in.release(done);
    rings_.out.publish();
    return done;
}

/// False: the ring has no room for the answer now.
bool BookTransfer::obey(const StateRecord& record) {
    switch (record.kind) {
        case StateRecord::Kind::series:
            return load_series(record);
        case StateRecord::Kind::earlier:
            return load_earlier(record);
        case StateRecord::Kind::lost:
            load_loss(record);
            return true;
        case StateRecord::Kind::place:
        case StateRecord::Kind::unplaced:
            return join(record);
        case StateRecord::Kind::give:
            walking_ = true;
            next_line_ = entries_.walk_slot = 0;
            lingers_ = 0;
            return true;
        case StateRecord::Kind::finish:
            takes_ = false;
            return true;
        case StateRecord::Kind::partial:
            places_.at(record.line).partial = true;
            return true;
        case StateRecord::Kind::round:
            // No event brought the state, so readers of the stream must read the state again.
            entries_.clock.skip();
            entries_.store.stream.append({}, entries_.clock);
            if (StateRecord* const answer = rings_.out.claim(1)) {
                *answer = record;
                return true;
            }
            return false;
        default:
            return true;
    }
}

bool BookTransfer::load_series(const StateRecord& record) {
    StateRecord* const answer = claim(StateRecord::Kind::refused, record.line);
    if (answer == nullptr) {
        return false;
    }
    // The claimed record is published in any case, so a series that was taken is answered too.
    answer->verdict = load_state(record);
    return true;
}

bool BookTransfer::load_earlier(const StateRecord& record) {
    StateRecord* const answer = rings_.out.claim(1);
    if (answer == nullptr) {
        return false;
    }
    *answer = record;
    answer->kind = StateRecord::Kind::refused;
    answer->verdict = merge_earlier(entries_, places_.at(record.line), record);
    if (answer->verdict == StateVerdict::taken) {
        note_forced(record);
    }
    return true;
}

void BookTransfer::load_loss(const StateRecord& record) {
    const LinePlace& row = places_.at(record.line);
    if (row.heard && row.same_numbering(record.place)) {
        const std::uint32_t number = record.place.sequence;
        entries_.store.lines[record.line].lose(entries_.clock.skip(), number, number,
                                               PINSTRIKE_MISSING_UNKNOWN);
    }
}

/// Answers only if the journal lacks messages after the place, or if the line was heard here and
/// has no place. False: the ring has no room for the answer.
bool BookTransfer::join(const StateRecord& record) {
    const bool placed = record.kind == StateRecord::Kind::place;
    if (!placed && !places_.at(record.line).heard) {
        return true;
    }
    const StateVerdict verdict = placed ? judge(record) : StateVerdict::behind;
    if (verdict == StateVerdict::taken) {
        note_forced(record);
        return true;
    }
    StateRecord* const answer = claim(StateRecord::Kind::apart, record.line);
    if (answer == nullptr) {
        return false;
    }
    answer->verdict = verdict;
    return true;
}

StateVerdict BookTransfer::judge(const StateRecord& record) const {
    const LinePlace& row = places_.at(record.line);
    if (!row.heard) {
        return record.forced ? StateVerdict::taken : StateVerdict::unheard;
    }
    if (!row.same_numbering(record.place)) {
        return StateVerdict::other_reset;
    }
    if (sequence_after(record.place.sequence, row.here.sequence)) {
        return StateVerdict::ahead;
    }
    const bool remembers = !sequence_after(row.from, record.place.sequence);
    if (record.recorded) {
        // What was received since the place has reached this core, or comes to it later.
        return !row.resets_seen() && !row.origin_known ? StateVerdict::unheard
               : remembers || !row.forgot              ? StateVerdict::taken
                                                       : StateVerdict::behind;
    }
    const bool joins = remembers && (row.resets_seen() || row.is_first_in(record.place));
    return joins ? StateVerdict::taken : StateVerdict::behind;
}

StateVerdict BookTransfer::load_state(const StateRecord& record) {
    const StateVerdict verdict = judge(record);
    if (verdict != StateVerdict::taken) {
        return verdict;
    }
    BookEntry* const entry = entries_.entry_for(record.key);
    if (entry == nullptr) {
        return StateVerdict::no_room;
    }
    const auto guard = entries_.store.writing(*entry);
    const bool known_before = entries_.catch_up_with_line(*entry);
    const bool left = known_before && entry->line() != record.line;
    if (left && heard_lately(*entry)) {
        return StateVerdict::moved;
    }
    const BookEntry own = left ? BookEntry{} : *entry;
    adopt(*entry, record);
    replay(record);
    keep_newer(entry->bid, own.bid, *entry, record.place);
    keep_newer(entry->offer, own.offer, *entry, record.place);
    note_forced(record);
    entries_.counters.bump(BookCount::state_taken);
    return StateVerdict::taken;
}

/// Whether messages in the journal that did not come late put the series on its line. (Messages
/// that the journal dropped had reached the peer as well, before it gave the series' state.)
bool BookTransfer::heard_lately(const BookEntry& entry) const {
    bool found = false;
    journal_.for_each(entry.key(), [&](const feed::Event& event, std::uint64_t /*place*/) {
        found = found || (event.header.line == entry.line() && !is_late(event.header));
    });
    return found;
}

/// Sets the entry to the state in the record.
void BookTransfer::adopt(BookEntry& entry, const StateRecord& record) {
    // Messages may have been missed between the record's place and the first one heard here, also
    // if the line was not heard, unless the record is from a recording.
    const LinePlace& row = places_.at(record.line);
    const std::uint32_t covered = record.place.sequence;
    const bool whole = row.heard ? row.whole_after(covered) &&
                                       !(record.recorded && row.lacks_before_origin(covered))
                                 : record.recorded;
    entries_.adopt_line(entry, record.line);
    entry.quotes = record.quotes;
    entry.bid = record.bid;
    entry.offer = record.offer;
    for (BookSide* const side : {&entry.bid, &entry.offer}) {
        if (is(*side, side_known) && !whole) {
            raise(*side, side_stale);
        }
    }
    TradeRecord& trades = entries_.trades_of(entry);  // it also holds covered_sequence
    trades = record.trades;
    trades.covered_sequence = record.place.sequence;
    trades.flags = static_cast<std::uint16_t>(trades.flags | covered_here);
}

void BookTransfer::replay(const StateRecord& record) {
    const LinePlace& row = places_.at(record.line);
    if (!takes_ || !row.heard) {
        return;
    }
    journal_.for_each(record.key, [&](const feed::Event& event, std::uint64_t place) {
        const feed::Header& header = event.header;
        constexpr unsigned before = feed::flag_before_day | feed::flag_before_flush;
        if (header.line == record.line && place >= row.remembered && (header.flags & before) == 0 &&
            sequence_after(header.sequence, record.place.sequence)) {
            apply_message(entries_, event);
        }
    });
}

/// Keeps this core's own side if the record's side is older, or as old and no fresher. If the peer
/// has no side, or one from another line, the own side is kept only if it is fresh and came in
/// order, because the peer may have had a reason not to take a late quote.
void BookTransfer::keep_newer(BookSide& side, BookSide own, const BookEntry& entry,
                              const CoveredPlace& place) const {
    if (!is(own, side_known) || is(own, side_elsewhere)) {
        return;
    }
    // If a late quote stated the side, and its number is from before this core heard the line, then
    // newer quotes may be missing.
    const LinePlace& row = places_.at(entry.line());
    if (is(own, side_late) && !sequence_after(own.sequence, row.from)) {
        raise(own, side_stale);
    }
    const bool fresh = entries_.state_of(entry, own) == SideState::fresh;
    bool stands = false;
    if (!is(side, side_known) || is(side, side_elsewhere)) {
        stands = fresh && !is(own, side_late);
    } else if (own.sequence == side.sequence) {
        // A replayed side does not know of a gap after it; the own side does.
        stands = fresh || sequence_after(own.sequence, place.sequence);
    } else {
        stands = sequence_after(own.sequence, side.sequence);
    }
    if (stands) {
        side = own;
    }
}

void BookTransfer::note_forced(const StateRecord& record) {
    LinePlace& row = places_.at(record.line);
    if (row.heard) {
        return;
    }
    const std::uint32_t covered = record.place.sequence;
    if (!row.forced || sequence_after(row.forced_first, covered)) {
        row.forced_first = covered;
    }
    if (!row.forced || sequence_after(covered, row.forced_last)) {
        row.forced_last = covered;
    }
    row.forced = true;
    row.forced_recorded = record.recorded;
}

/// False also if the only message was one that left no value, such as a cancel.
bool BookTransfer::has_state(const BookEntry& entry) const {
    return entries_.known(entry) &&
           (entry.quotes != 0 || says_anything(entries_.store.trades_at(entry)));
}

std::size_t BookTransfer::walk() {
    std::size_t records = walk_lines();
    std::size_t slots = 0;
    const bool lines_given = next_line_ >= places_.end();
    while (lines_given && slots < slots_each_step && records < given_each_step &&
           entries_.walk_slot < entries_.store.table.slots()) {
        BookEntry& entry = entries_.store.table.at(entries_.walk_slot);
        if (has_state(entry) && places_.at(entry.line()).is_stated()) {
            StateRecord* const record = rings_.out.claim(1);
            if (record == nullptr) {
                break;
            }
            give(entry, *record);
            ++records;
        }
        ++entries_.walk_slot;
        ++slots;
    }
    rings_.out.publish();
    return records + slots;
}

/// Returns the number of places that were given.
std::size_t BookTransfer::walk_lines() {
    std::size_t given = 0;
    for (; next_line_ < places_.end() && given < given_each_step; ++next_line_) {
        const auto line = static_cast<std::uint16_t>(next_line_);
        // Without a place, the taker knows that a line lacks something.
        if (!places_.at(line).heard || places_.at(line).partial) {
            continue;
        }
        StateRecord* const record = claim(StateRecord::Kind::place, line);
        if (record == nullptr) {
            break;
        }
        record->place = places_.at(line).here;
        ++given;
    }
    return given;
}

void BookTransfer::give(BookEntry& entry, StateRecord& record) {
    {
        const auto guard = entries_.store.writing(entry);
        entries_.catch_up_with_line(entry);
    }
    record = StateRecord{};
    record.line = entry.line();
    record.place = places_.at(entry.line()).stated();
    record.key = entry.key();
    record.quotes = entry.quotes;
    record.bid = resolved(entry.bid, entries_.state_of(entry, entry.bid));
    record.offer = resolved(entry.offer, entries_.state_of(entry, entry.offer));
    if (entry.has_trades()) {
        record.trades = entries_.store.trades_at(entry);
        record.trades.covered_sequence = record.trades.excess_cancelled = 0;
        record.trades.flags =
            static_cast<std::uint16_t>(record.trades.flags & ~unsigned{own_flags});
        record.has_trades = says_anything(record.trades);
    }
    entries_.counters.bump(BookCount::state_given);
}

void BookTransfer::on_timer() {
    step();
    if (!walking_ || entries_.walk_slot < entries_.store.table.slots()) {
        lingers_ = 0;
        return;
    }
    if (++lingers_ < lingers_timers) {
        return;
    }
    if (claim(StateRecord::Kind::end, 0) != nullptr) {
        rings_.out.publish();
        walking_ = false;
    }
}

}  // namespace pinstrike::actors
