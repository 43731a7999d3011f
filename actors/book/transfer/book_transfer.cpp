// path: mixed, cold: join_transfer() and start_transfer()
//
// The exchange of the state of series with peers.
//
// To give state, the book walks its table, a few slots at a time. Each series' record has the place
// that this core has reached on the series' line. Before the series, the book gives the place of
// each line. A series that the walk does not find had its first message after that place, so a
// taker whose journal has all messages after it misses nothing. To take a record, the journal must
// have everything after the place that the record covers. Then the series gets the state of the
// record, and the messages after that place are applied again by the usual rules. So there is no
// second set of rules, and a series may be taken twice.
#include "actors/book/transfer/book_transfer.h"

#include "actors/book/book.h"

namespace pinstrike::actors {

void Book::join_transfer(const BookTransferConfig& config, StateRings rings) {
    transfer_ = std::make_unique<BookTransfer>(config, std::move(rings));
}

void Book::start_transfer() {
    transfer_->places.prefault();
    if (transfer_->takes) {
        transfer_->journal.prefault();
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

/// Called before a batch is applied.
void Book::note_for_transfer(EventBatch batch) {
    BookTransfer& transfer = *transfer_;
    for (const feed::Event& event : batch) {
        const LinePlace& row = transfer.places.at(event.header.line);
        const bool waited = row.forced && !row.heard;
        transfer.places.see(event, transfer.journal.end());
        if (waited && row.heard) [[unlikely]] {
            join_forced(event.header.line);
        }
        if (transfer.takes && of_series(event.header.kind)) {
            remember(event);
        }
        if (transfer.walking && event.header.kind == feed::EventKind::gap) [[unlikely]] {
            pass_on_loss(event);
        }
    }
}

void Book::remember(const feed::Event& event) {
    BookTransfer& transfer = *transfer_;
    transfer.journal.put(event, [&](const feed::Header& oldest, std::uint64_t place) {
        LinePlace& row = transfer.places.at(oldest.line);
        constexpr unsigned before = feed::flag_before_day | feed::flag_before_flush;
        const bool counts = place >= row.remembered && (oldest.flags & before) == 0;
        if (counts && sequence_after(oldest.sequence, row.from)) {
            row.from = oldest.sequence;
        }
    });
}

/// Called for the first message of a line from which series were taken before. Checks whether the
/// message joins their state.
void Book::join_forced(std::uint16_t number) {
    const LinePlace& row = transfer_->places.at(number);
    if (row.resets_seen()) {
        return;  // the book applies the reset itself
    }
    if (sequence_after(row.forced_last, row.from)) {
        store_.lines[number].start_of_day(
            clock_.skip());  // the state covers later messages too, so it is dropped
        sweeper_.start(store_.table.slots());
    } else if (sequence_after(row.from, row.forced_first)) {
        store_.lines[number].lose(clock_.skip(), row.from);
    }
}

void Book::pass_on_loss(const feed::Event& event) {
    const feed::Gap& gap = event.body.gap;
    BookTransfer& transfer = *transfer_;
    if (gap.cause != feed::GapCause::ring_full) {
        return;  // other gaps come in order, so each record includes them
    }
    if (StateRecord* const record = transfer.rings.out.claim(1)) {
        *record = StateRecord{};
        record->kind = StateRecord::Kind::lost;
        record->line = event.header.line;
        record->place = transfer.places.at(event.header.line).here;
        record->place.sequence = feed::serial_of(gap.last);
        transfer.rings.out.publish();
    } else {
        transfer.next_slot = 0;  // series that were given may be wrong, so all are given again
    }
}

std::size_t Book::on_idle() {
    return transfer_ == nullptr ? 0 : step_transfer();
}

std::size_t Book::step_transfer() {
    const std::size_t loaded = read_transfer();
    return loaded + (transfer_->walking ? walk() : 0);
}

std::size_t Book::read_transfer() {
    BookTransfer& transfer = *transfer_;
    const auto records = transfer.rings.in.peek(loaded_each_step);
    std::size_t done = 0;
    for (const StateRecord& record : records) {
        if (!obey(record)) {
            break;  // the ring has no room for the answer
        }
        ++done;
    }
    transfer.rings.in.release(done);
    transfer.rings.out.publish();
    return done;
}

/// False: the ring has no room for the answer now.
bool Book::obey(const StateRecord& record) {
    BookTransfer& transfer = *transfer_;
    switch (record.kind) {
        case StateRecord::Kind::series:
            return load_series(record);
        case StateRecord::Kind::lost:
            load_loss(record);
            return true;
        case StateRecord::Kind::place:
        case StateRecord::Kind::unplaced:
            return join(record);
        case StateRecord::Kind::give:
            transfer.walking = true;
            transfer.next_line = transfer.next_slot = 0;
            transfer.lingers = 0;
            return true;
        case StateRecord::Kind::finish:
            transfer.takes = false;
            return true;
        case StateRecord::Kind::round:
            // No event brought the state, so readers of the stream must read the state again.
            clock_.skip();
            store_.stream.append({}, clock_);
            if (StateRecord* const answer = transfer.rings.out.claim(1)) {
                *answer = record;
                return true;
            }
            return false;
        default:
            return true;
    }
}

bool Book::load_series(const StateRecord& record) {
    StateRecord* const answer = transfer_->rings.out.claim(1);
    if (answer == nullptr) {
        return false;
    }
    // The claimed record is published in any case, so a series that was taken is answered too.
    *answer = StateRecord{};
    answer->kind = StateRecord::Kind::refused;
    answer->line = record.line;
    answer->verdict = load_state(record);
    return true;
}

void Book::load_loss(const StateRecord& record) {
    const LinePlace& row = transfer_->places.at(record.line);
    if (row.heard && row.same_numbering(record.place)) {
        store_.lines[record.line].lose(clock_.skip(), record.place.sequence);
    }
}

/// Answers only if the journal lacks messages after the place, or if the line was heard here and
/// has no place. False: the ring has no room for the answer.
bool Book::join(const StateRecord& record) {
    const bool placed = record.kind == StateRecord::Kind::place;
    if (!placed && !transfer_->places.at(record.line).heard) {
        return true;
    }
    const StateVerdict verdict = placed ? judge(record) : StateVerdict::behind;
    if (verdict == StateVerdict::taken) {
        note_forced(record);
        return true;
    }
    StateRecord* const answer = transfer_->rings.out.claim(1);
    if (answer == nullptr) {
        return false;
    }
    *answer = StateRecord{};
    answer->kind = StateRecord::Kind::apart;
    answer->line = record.line;
    answer->verdict = verdict;
    return true;
}

StateVerdict Book::judge(const StateRecord& record) const {
    const LinePlace& row = transfer_->places.at(record.line);
    if (!row.heard) {
        return record.forced ? StateVerdict::taken : StateVerdict::unheard;
    }
    if (!row.same_numbering(record.place)) {
        return StateVerdict::other_reset;
    }
    if (sequence_after(record.place.sequence, row.here.sequence)) {
        return StateVerdict::ahead;
    }
    const bool joins = !sequence_after(row.from, record.place.sequence) &&
                       (row.resets_seen() || row.is_first_in(record.place));
    return joins ? StateVerdict::taken : StateVerdict::behind;
}

StateVerdict Book::load_state(const StateRecord& record) {
    const StateVerdict verdict = judge(record);
    if (verdict != StateVerdict::taken) {
        return verdict;
    }
    BookEntry* const entry = entry_for(record.key);
    if (entry == nullptr) {
        return StateVerdict::no_room;
    }
    const auto guard = store_.writing(*entry);
    const bool known_before = catch_up_with_line(*entry);
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
    counters_.bump(BookCount::state_taken);
    return StateVerdict::taken;
}

/// Whether messages in the journal that did not come late put the series on its line. (Messages
/// that the journal dropped had reached the peer as well, before it gave the series' state.)
bool Book::heard_lately(const BookEntry& entry) const {
    bool found = false;
    transfer_->journal.for_each(
        entry.key(), [&](const feed::Event& event, std::uint64_t /*place*/) {
            found = found || (event.header.line == entry.line() && !is_late(event.header));
        });
    return found;
}

/// Sets the entry to the state in the record.
void Book::adopt(BookEntry& entry, const StateRecord& record) {
    // If the line was not heard here, messages may have been missed after the record's place.
    const LinePlace& row = transfer_->places.at(record.line);
    const bool whole = row.heard && row.whole_after(record.place.sequence);
    adopt_line(entry, record.line);
    entry.quotes = record.quotes;
    entry.bid = record.bid;
    entry.offer = record.offer;
    for (BookSide* const side : {&entry.bid, &entry.offer}) {
        if (is(*side, side_known) && !whole) {
            raise(*side, side_stale);
        }
    }
    TradeRecord& trades = trades_of(entry);  // it also holds covered_sequence
    trades = record.trades;
    trades.covered_sequence = record.place.sequence;
    trades.flags = static_cast<std::uint16_t>(trades.flags | covered_here);
}

void Book::replay(const StateRecord& record) {
    const BookTransfer& transfer = *transfer_;
    const LinePlace& row = transfer.places.at(record.line);
    if (!transfer.takes || !row.heard) {
        return;
    }
    transfer.journal.for_each(record.key, [&](const feed::Event& event, std::uint64_t place) {
        const feed::Header& header = event.header;
        constexpr unsigned before = feed::flag_before_day | feed::flag_before_flush;
        if (header.line == record.line && place >= row.remembered && (header.flags & before) == 0 &&
            sequence_after(header.sequence, record.place.sequence)) {
            apply_again(event);
        }
    });
}

/// Keeps this core's own side if the record's side is older, or as old and no fresher. If the peer
/// has no side, or one from another line, the own side is kept only if it is fresh and came in
/// order, because the peer may have had a reason not to take a late quote.
void Book::keep_newer(BookSide& side, BookSide own, const BookEntry& entry,
                      const CoveredPlace& place) const {
    if (!is(own, side_known) || is(own, side_elsewhere)) {
        return;
    }
    // If a late quote stated the side, and its number is from before this core heard the line, then
    // newer quotes may be missing.
    const LinePlace& row = transfer_->places.at(entry.line());
    if (is(own, side_late) && !sequence_after(own.sequence, row.from)) {
        raise(own, side_stale);
    }
    const bool fresh = state_of(entry, own) == SideState::fresh;
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

void Book::note_forced(const StateRecord& record) {
    LinePlace& row = transfer_->places.at(record.line);
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
}

std::size_t Book::walk() {
    BookTransfer& transfer = *transfer_;
    std::size_t records = walk_lines();
    std::size_t slots = 0;
    const bool lines_given = transfer.next_line >= transfer.places.end();
    while (lines_given && slots < slots_each_step && records < given_each_step &&
           transfer.next_slot < store_.table.slots()) {
        BookEntry& entry = store_.table.at(transfer.next_slot);
        const bool gives = known(entry) && transfer.places.at(entry.line()).heard;
        if (gives) {
            StateRecord* const record = transfer.rings.out.claim(1);
            if (record == nullptr) {
                break;
            }
            give(entry, *record);
            ++records;
        }
        ++transfer.next_slot;
        ++slots;
    }
    transfer.rings.out.publish();
    return records + slots;
}

/// Returns the number of places that were given.
std::size_t Book::walk_lines() {
    BookTransfer& transfer = *transfer_;
    std::size_t given = 0;
    for (; transfer.next_line < transfer.places.end() && given < given_each_step;
         ++transfer.next_line) {
        const auto line = static_cast<std::uint16_t>(transfer.next_line);
        if (!transfer.places.at(line).heard) {
            continue;
        }
        StateRecord* const record = transfer.rings.out.claim(1);
        if (record == nullptr) {
            break;
        }
        *record = StateRecord{};
        record->kind = StateRecord::Kind::place;
        record->line = line;
        record->place = transfer.places.at(line).here;
        ++given;
    }
    return given;
}

void Book::give(BookEntry& entry, StateRecord& record) {
    {
        const auto guard = store_.writing(entry);
        catch_up_with_line(entry);
    }
    record = StateRecord{};
    record.line = entry.line();
    record.place = transfer_->places.at(entry.line()).here;
    record.key = entry.key();
    record.quotes = entry.quotes;
    record.bid = resolved(entry.bid, state_of(entry, entry.bid));
    record.offer = resolved(entry.offer, state_of(entry, entry.offer));
    if (entry.has_trades()) {
        record.trades = store_.trades_at(entry);
        record.trades.covered_sequence = 0;
        constexpr unsigned own = covered_here | covered_elsewhere;
        record.trades.flags = static_cast<std::uint16_t>(record.trades.flags & ~own);
        record.has_trades = says_anything(record.trades);
    }
    counters_.bump(BookCount::state_given);
}

/// Called about every millisecond.
void Book::time_transfer() {
    BookTransfer& transfer = *transfer_;
    step_transfer();
    if (!transfer.walking || transfer.next_slot < store_.table.slots()) {
        transfer.lingers = 0;
        return;
    }
    if (++transfer.lingers < lingers_timers) {
        return;
    }
    if (StateRecord* const end = transfer.rings.out.claim(1)) {
        *end = StateRecord{};
        end->kind = StateRecord::Kind::end;
        transfer.rings.out.publish();
        transfer.walking = false;
    }
}

/// Whether the state taken from a peer already includes a late message.
bool Book::covered(const BookEntry& entry, const feed::Header& header) const {
    if (!entry.has_trades()) {
        return false;
    }
    const TradeRecord& trades = store_.trades_at(entry);
    const bool behind = sequence_after(header.sequence, trades.covered_sequence);
    const bool foreign =
        (header.flags & feed::flag_before_flush) != 0 || entry.line() != header.line;
    if ((trades.flags & covered_here) != 0) {
        return foreign || !behind;
    }
    return (trades.flags & covered_elsewhere) != 0 && foreign && !behind;
}

}  // namespace pinstrike::actors
