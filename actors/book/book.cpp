// path: cold
#include "actors/book/book.h"

#include "config/mistake.h"
#include "feed/opra/test_symbols.h"

#include <algorithm>

namespace pinstrike::actors {

namespace {

/// About a third full at most: fuller, more probes go on to a second line, which nobody has asked
/// for ahead (tests/bench/book.cpp).
constexpr double table_load = 0.36;
constexpr double venue_load = 0.6;
/// Participants that quote a series, on average over the series of a day (18 exchanges, of which
/// few quote the far ones).
constexpr std::size_t venues_per_series = 10;
constexpr std::size_t line_numbers = 65536;

std::size_t venue_share(const BookConfig& config, unsigned cores_count) {
    return config.venue_quotes ? Book::series_share(config, cores_count) * venues_per_series : 0;
}

}  // namespace

Book::Book(const BookConfig& config, unsigned cores_count)
    : config_(config),
      table_(series_share(config, cores_count), table_load),
      trades_(series_share(config, cores_count)),
      lines_(line_numbers) {
    if (config.venue_quotes) {
        venues_ = FlatTable<VenueEntry>(venue_share(config, cores_count), venue_load);
    }
}

/// With room for an uneven one: a hash spreads series well, roots not so well.
std::size_t Book::series_share(const BookConfig& config, unsigned cores_count) {
    const std::size_t even = (config.series_capacity + cores_count - 1) / cores_count;
    return cores_count == 1 ? even : even + even / 4;
}

std::size_t Book::memory_bytes(const BookConfig& config, unsigned cores_count) {
    const std::size_t series = series_share(config, cores_count);
    const std::size_t venues =
        config.venue_quotes
            ? FlatTable<VenueEntry>::bytes_for(venue_share(config, cores_count), venue_load)
            : 0;
    return cores_count *
           (FlatTable<BookEntry>::bytes_for(series, table_load) + TradePool::bytes_for(series) +
            line_numbers * sizeof(LineMemory) + venues);
}

Interest Book::interest() const {
    using feed::EventKind;
    Interest wanted;
    wanted.kinds = 0;
    for (const EventKind kind :
         {EventKind::quote, EventKind::trade, EventKind::open_interest, EventKind::end_of_day,
          EventKind::series_map, EventKind::control, EventKind::gap, EventKind::line_state}) {
        wanted.kinds |= Interest::bit(kind);
    }
    return wanted;
}

void Book::on_start(const CoreInfo& /*core*/) {
    table_.prefault();
    trades_.prefault();
    if (config_.venue_quotes) {
        venues_.prefault();
    }
    for (std::size_t line = 0; line < lines_.size(); ++line) {
        lines_[line].epoch = 1;  // above that of an entry no message has settled in
    }
}

bool Book::lists(const feed::SeriesKey& key) const {
    return config_.test_symbols || !feed::opra::is_test_symbol(key.symbol_word());
}

std::size_t Book::series_count() const {
    std::size_t count = 0;
    for_each_series([&count](const feed::SeriesKey&) { ++count; });
    return count;
}

std::unique_ptr<Actor> make_book(const BookConfig& config, unsigned cores_count) {
    return std::make_unique<Book>(config, cores_count);
}

// --- hot ---

namespace {

constexpr unsigned ahead_messages = 32;  ///< 16 to 64 measure alike, 8 is too little

constexpr bool is_late(const feed::Header& header) {
    return (header.flags & (feed::flag_late | feed::flag_before_day | feed::flag_before_flush)) !=
           0;
}

}  // namespace

/// A message whose entry is on its way from memory.
struct Book::Ahead {
    const feed::Event* event;
    std::size_t home;
};

Book::Ahead Book::look_ahead(const feed::Event& event) const {
    // Line and gap events have bytes where others have a series: what is fetched is of no use then,
    // and of no harm.
    const std::size_t home = table_.home(feed::hash(event.body.series));
    table_.prefetch(home);
    return {&event, home};
}

void Book::on_events(EventBatch batch) {
    Ahead ahead[ahead_messages];
    EventBatch::iterator at = batch.begin();
    const EventBatch::iterator end = batch.end();
    unsigned count = 0;
    for (; count < ahead_messages && at != end; ++at, ++count) {
        ahead[count] = look_ahead(*at);
    }
    unsigned next = 0;
    for (; at != end; ++at, next = (next + 1) % ahead_messages) {
        apply(ahead[next]);
        ahead[next] = look_ahead(*at);
    }
    for (unsigned i = 0; i < count; ++i, next = (next + 1) % ahead_messages) {
        apply(ahead[next % count]);
    }
    if (count > 0) {
        watch(ahead[sample_++ % count]);
    }
}

void Book::apply(const Ahead& ahead) {
    if (ahead.event->header.kind == feed::EventKind::quote) [[likely]] {
        apply_quote(*ahead.event, ahead.home);
    } else {
        apply_series(*ahead.event, ahead.home);
    }
}

/// Offers one series of the batch's end, at a place that changes, to the busiest.
void Book::watch(const Ahead& ahead) {
    const feed::Event& event = *ahead.event;
    if (event.header.kind == feed::EventKind::quote && !is_empty(event.body.series)) {
        const BookEntry* const entry = table_.find(event.body.series, ahead.home);
        if (entry != nullptr) {
            candidates_.offer(entry->key, entry->quotes);
        }
    }
}

void Book::apply_series(const feed::Event& event, std::size_t home) {
    using feed::EventKind;
    switch (event.header.kind) {
        case EventKind::trade:
            apply_trade(event, home);
            break;
        case EventKind::open_interest:
            apply_open_interest(event, home);
            break;
        case EventKind::end_of_day:
            apply_end_of_day(event, home);
            break;
        case EventKind::series_map:
            apply_series_map(event, home);
            break;
        case EventKind::control:
            apply_control(event);
            break;
        case EventKind::gap:
            apply_gap(event);
            break;
        default:
            break;
    }
}

[[gnu::always_inline]] inline BookEntry* Book::entry_for(const feed::SeriesKey& key,
                                                         std::size_t home) {
    BookEntry* entry = is_empty(key) ? nullptr : table_.find_or_insert(key, home);
    if (entry == nullptr) [[unlikely]] {
        entry = make_room_for(key, home);
    }
    return entry;
}

/// The table is full: takes out what a start of day left in it, and tries again.
BookEntry* Book::make_room_for(const feed::SeriesKey& key, std::size_t home) {
    BookEntry* entry = nullptr;
    if (!is_empty(key) && sweeper_.busy()) {
        sweep(sweeper_.left());
        entry = table_.find_or_insert(key, home);
    }
    if (entry == nullptr) {
        counters_.bump(BookCount::series_refused);
    }
    return entry;
}

void Book::apply_quote(const feed::Event& event, std::size_t home) {
    const feed::Header& header = event.header;
    if ((header.flags & feed::flag_before_day) != 0) [[unlikely]] {
        counters_.bump(BookCount::late_before_day);
        return;
    }
    BookEntry* const entry = entry_for(event.body.quote.series, home);
    if (entry == nullptr) [[unlikely]] {
        return;
    }
    const bool settled = entry->epoch == lines_[header.line].epoch && entry->line == header.line;
    if (!settled || is_late(header)) [[unlikely]] {
        const Place place = arrive(*entry, header);
        if (place.late) {
            apply_late_quote(*entry, event, place);
            return;
        }
    }
    ++entry->quotes;
    state_quote(*entry, event);
    if (config_.venue_quotes) [[unlikely]] {
        keep_venue_quote(event);
    }
}

namespace {

/// True where what a side says is older than a late message of its line.
bool yields(const BookSide& side, std::uint32_t sequence) {
    return !side.is(side_known) || side.is(side_elsewhere) ||
           sequence_after(sequence, side.sequence);
}

}  // namespace

void Book::apply_late_quote(BookEntry& entry, const feed::Event& event, const Place& place) {
    ++entry.quotes;
    if (place.foreign || lines_[entry.line].flushed_after(place.sequence)) {
        return;  // a series takes no sides from before a flush, nor from a line it has left
    }
    const QuoteStatements says(event);
    // Numbers behind it may be missing still: it is fresh once they are not.
    constexpr unsigned mark = side_known | side_late;
    if (yields(entry.bid, place.sequence)) {
        state_side(entry.bid, says.effect.bid, says.bid, says.best_bid, place.sequence, mark);
    }
    if (yields(entry.offer, place.sequence)) {
        state_side(entry.offer, says.effect.offer, says.offer, says.best_offer, place.sequence,
                   mark);
    }
    if (config_.venue_quotes) {
        keep_venue_quote(event);
    }
}

void Book::apply_trade(const feed::Event& event, std::size_t home) {
    if ((event.header.flags & feed::flag_before_day) != 0) {
        counters_.bump(BookCount::late_before_day);
        return;
    }
    if (BookEntry* const entry = entry_for(event.body.trade.series, home)) {
        const Place place = arrive(*entry, event.header);
        TradeRules(trades_of(*entry), place).apply(event.header, event.body.trade);
    }
}

void Book::apply_open_interest(const feed::Event& event, std::size_t home) {
    if ((event.header.flags & feed::flag_before_day) != 0) {
        counters_.bump(BookCount::late_before_day);
        return;
    }
    if (BookEntry* const entry = entry_for(event.body.open_interest.series, home)) {
        const Place place = arrive(*entry, event.header);
        TradeRules(trades_of(*entry), place)
            .state_open_interest(event.body.open_interest.open_interest);
    }
}

/// A summary lists no series, but is the latest message of one that is listed.
void Book::apply_end_of_day(const feed::Event& event, std::size_t home) {
    if ((event.header.flags & feed::flag_before_day) != 0) {
        counters_.bump(BookCount::late_before_day);
        return;
    }
    const feed::SeriesKey& key = event.body.end_of_day.series;
    BookEntry* const entry = is_empty(key) ? nullptr : table_.find(key, home);
    if (entry != nullptr && known(*entry)) {
        arrive(*entry, event.header);
    }
}

/// Takes a place in the table, which the first message of the series will find. What comes on
/// another line than that of the series (line 220) says nothing that its own line does not say, and
/// no start of day of this feed may ever take back what is announced of a line it does not take.
void Book::apply_series_map(const feed::Event& event, std::size_t home) {
    const feed::SeriesMap& map = event.body.series_map;
    if (map.mapped_line != event.header.line) {
        return;
    }
    if ((event.header.flags & feed::flag_before_day) != 0) {
        counters_.bump(BookCount::late_before_day);
        return;
    }
    BookEntry* const entry = entry_for(map.series, home);
    if (entry == nullptr) {
        return;
    }
    if (!known(*entry)) {
        forget(*entry);
        settle_anew(*entry, map.mapped_line);
    }
    // The file comes the evening before its day: an announcement outlives one start of day.
    constexpr std::uint16_t starts_of_day = 2;
    announced_ += entry->announced == 0 ? 1 : 0;
    entry->announced = starts_of_day;
}

/// Settles the entry and makes the message's line its line, unless the message is late on a line
/// that the series has left.
Place Book::arrive(BookEntry& entry, const feed::Header& header) {
    if (is_late(header)) {
        return arrive_late(entry, header);
    }
    if (settle(entry) && entry.line != header.line) {
        leave_line(entry);
    }
    settle_anew(entry, header.line);
    return {.sequence = header.sequence};
}

Place Book::arrive_late(BookEntry& entry, const feed::Header& header) {
    counters_.bump(BookCount::late);
    const bool before_flush = (header.flags & feed::flag_before_flush) != 0;
    if (!settle(entry)) {
        settle_anew(entry, header.line);
    }
    return {.sequence = header.sequence,
            .late = true,
            .foreign = before_flush || entry.line != header.line};
}

void Book::settle_anew(BookEntry& entry, std::uint16_t line) {
    entry.line = line;
    entry.epoch = lines_[line].epoch;
}

/// Brings an entry up to what has happened to its line. False where nothing is known of the
/// series: it was never heard, or a start of day made it forgotten.
bool Book::settle(BookEntry& entry) {
    if (!known(entry)) {
        forget(entry);
        counters_.bump(BookCount::series_unannounced, entry.announced == 0 ? 1 : 0);
        return false;
    }
    const LineMemory& line = lines_[entry.line];
    if (entry.epoch == line.epoch) {
        return true;
    }
    if (line.flush > entry.epoch) {
        touch_elsewhere(entry);
    }
    settle_sides(entry);
    entry.epoch = line.epoch;
    return true;
}

void Book::settle_sides(BookEntry& entry) const {
    const LineMemory& line = lines_[entry.line];
    const auto outlives = [&line](const BookSide& side) {
        return !side.is(side_elsewhere) && sequence_after(side.sequence, line.late_flush_sequence);
    };
    for (BookSide* const side : {&entry.bid, &entry.offer}) {
        const bool flushed =
            line.flush > entry.epoch || (line.late_flush > entry.epoch && !outlives(*side));
        if (flushed) {
            *side = BookSide{};
        } else if (line.gap > entry.epoch && side->is(side_known)) {
            side->raise(side_stale);
            side->lower(side_late);
        }
    }
}

/// The sequences of what it says mean nothing on the next line.
void Book::leave_line(BookEntry& entry) {
    counters_.bump(BookCount::series_moved);
    for (BookSide* const side : {&entry.bid, &entry.offer}) {
        if (state_of(entry, *side) == SideState::stale) {
            side->raise(side_stale);
        }
        side->raise(side_elsewhere);
        side->lower(side_late);
    }
    touch_elsewhere(entry);
}

void Book::touch_elsewhere(BookEntry& entry) {
    if (entry.trade_record == 0) {
        return;
    }
    std::uint16_t& flags = trades_.at(entry.trade_record).flags;
    const unsigned touched = flags & touched_here;
    flags = static_cast<std::uint16_t>((flags & ~touched) | touched << elsewhere_shift);
}

/// Brings an entry of which nothing is known to the state of one that was never heard. If a start
/// of day came, it wears off an announcement.
void Book::forget(BookEntry& entry) {
    if (entry.trade_record != 0) {
        trades_.give_back(entry.trade_record);
    }
    BookEntry left{};
    left.key = entry.key;
    left.announced = entry.announced;
    if (entry.announced != 0 && forgotten(entry)) {
        --left.announced;
        announced_ -= left.announced == 0 ? 1 : 0;
    }
    settle_anew(left, entry.line);
    entry = left;
}

TradeRecord& Book::trades_of(BookEntry& entry) {
    if (entry.trade_record == 0) {
        entry.trade_record = trades_.take();
    }
    return trades_.at(entry.trade_record);
}

namespace {

/// One that comes late takes only what was stated before it, and nothing where another went after
/// it.
void flush(LineMemory& line, const feed::Header& header) {
    if ((header.flags & (feed::flag_before_day | feed::flag_before_flush)) != 0) {
        return;
    }
    if ((header.flags & feed::flag_late) != 0) {
        line.flush_quotes_late(header.sequence);
    } else {
        line.flush_quotes();
    }
}

}  // namespace

void Book::apply_control(const feed::Event& event) {
    LineMemory& line = lines_[event.header.line];
    switch (event.body.control.forget) {
        case feed::Forget::nothing:
            break;
        case feed::Forget::quotes:
            flush(line, event.header);
            break;
        case feed::Forget::day:
            line.start_of_day();
            sweeper_.start(table_.slots());
            venue_sweeper_.start(venues_.slots());
            break;
    }
}

void Book::apply_gap(const feed::Event& event) {
    const feed::Gap& gap = event.body.gap;
    LineMemory& line = lines_[event.header.line];
    if (gap.cause == feed::GapCause::repaired) {
        line.repair(gap.first, gap.last);
    } else if (!planted(Mistake::book) || gap.cause != feed::GapCause::ring_full) {
        line.lose(gap.last);
    }
}

void Book::keep_venue_quote(const feed::Event& event) {
    const feed::Header& header = event.header;
    const VenueKey key{event.body.quote.series, static_cast<unsigned char>(header.participant)};
    VenueEntry* const entry = venues_.find_or_insert(key, venues_.home(hash(key)));
    if (entry == nullptr) {
        counters_.bump(BookCount::venue_quotes_refused);
        return;
    }
    const LineMemory& line = lines_[header.line];
    const bool same = entry->epoch != 0 && !forgotten(*entry) && entry->line == header.line;
    if (is_late(header) && same && !sequence_after(header.sequence, entry->sequence)) {
        return;
    }
    const feed::Quote& quote = event.body.quote;
    entry->bid = quote.bid;
    entry->bid_size = quote.bid_size;
    entry->offer = quote.offer;
    entry->offer_size = quote.offer_size;
    entry->sequence = header.sequence;
    entry->epoch = line.epoch;
    entry->line = header.line;
    entry->type = header.type;
    entry->code = header.code;
}

void Book::on_timer(std::int64_t now_ns) {
    // About 15 us of scanning a millisecond: a pass over 4 M slots takes some two seconds.
    constexpr std::size_t slots_per_timer = 2048;
    constexpr std::int64_t publish_every_ns = 250'000'000;
    sweep(slots_per_timer);
    sweep_venues(slots_per_timer);
    const bool set_back = now_ns < publish_due_ns_ - publish_every_ns;  // the clock was
    if (now_ns >= publish_due_ns_ || set_back) {
        publish_due_ns_ = now_ns + publish_every_ns;
        publish();
    }
}

void Book::on_stop() {
    publish();
}

void Book::publish() {
    entries_.set(table_.used());
    announced_entries_.set(announced_);
    publish_busiest();
}

void Book::sweep(std::size_t slots_count) {
    sweeper_.advance(table_, slots_count, [this](BookEntry& entry) {
        if (!forgotten(entry)) {
            return false;
        }
        forget(entry);  // its trade record goes back to the pool
        if (entry.announced != 0) {
            return false;
        }
        counters_.bump(BookCount::series_forgotten);
        return true;
    });
}

void Book::sweep_venues(std::size_t slots_count) {
    venue_sweeper_.advance(venues_, slots_count,
                           [this](const VenueEntry& entry) { return forgotten(entry); });
}

void Book::publish_busiest() {
    candidates_.refresh([this](const feed::SeriesKey& key) -> std::uint64_t {
        const BookEntry* const entry = table_.find(key);
        return entry == nullptr || !known(*entry) || !lists(key) ? 0 : entry->quotes;
    });
    BusiestBoard::Ranking ranking;
    std::size_t place = 0;
    for (const BusiestCandidates::Candidate& candidate : candidates_.all()) {
        BusySeries& row = ranking[place++];
        const BookEntry* const entry = candidate.quotes == 0 ? nullptr : table_.find(candidate.key);
        if (entry != nullptr) {
            row = {.key = candidate.key,
                   .quotes = candidate.quotes,
                   .bid = entry->bid.price(),
                   .offer = entry->offer.price(),
                   .has_bid = entry->bid.is(side_present),
                   .has_offer = entry->offer.is(side_present)};
        }
    }
    board_.publish(ranking);
}

// --- cold ---

/// As of now, for a side of a settled entry.
SideState Book::state_of(const BookEntry& entry, const BookSide& side) const {
    if (!side.is(side_known)) {
        return SideState::unknown;
    }
    const bool waits = side.is(side_late) && !lines_[entry.line].complete_after(side.sequence);
    return side.is(side_stale) || waits ? SideState::stale : SideState::fresh;
}

namespace {

std::optional<BestQuote> best_of(const BookSide& side) {
    if (!side.is(side_present)) {
        return std::nullopt;
    }
    return BestQuote{side.participant(), side.price(), side.size()};
}

void add_trades(SeriesState& state, const TradeRecord& record) {
    if ((record.flags & has_open) != 0) {
        state.open = Price{record.open, record.open_code};
    }
    if ((record.flags & has_range) != 0) {
        state.high = Price{record.high, record.high_code};
        state.low = Price{record.low, record.low_code};
    }
    if ((record.flags & has_last) != 0) {
        state.last = LastTrade{record.last_participant,
                               {record.last, record.last_code},
                               record.last_size,
                               record.last_type};
    }
    if ((record.flags & has_open_interest) != 0) {
        state.open_interest = record.open_interest;
    }
    state.volume = record.volume;
    state.trades = record.trades;
}

}  // namespace

std::optional<SeriesState> Book::find(const feed::SeriesKey& key) const {
    const BookEntry* const found = table_.find(key);
    if (found == nullptr || !known(*found)) {
        return std::nullopt;
    }
    BookEntry entry = *found;
    settle_sides(entry);
    SeriesState state;
    state.key = key;
    state.line = entry.line;
    state.bid = best_of(entry.bid);
    state.offer = best_of(entry.offer);
    state.bid_state = state_of(entry, entry.bid);
    state.offer_state = state_of(entry, entry.offer);
    state.quotes = entry.quotes;
    if (entry.trade_record != 0) {
        add_trades(state, trades_.at(entry.trade_record));
    }
    return state;
}

std::optional<VenueQuote> Book::venue_quote(const feed::SeriesKey& key, char participant) const {
    if (!config_.venue_quotes || is_empty(key)) {
        return std::nullopt;
    }
    const VenueEntry* const entry =
        venues_.find(VenueKey{key, static_cast<unsigned char>(participant)});
    if (entry == nullptr || forgotten(*entry)) {
        return std::nullopt;
    }
    return VenueQuote{.participant = participant,
                      .type = entry->type,
                      .code = entry->code,
                      .stale = lines_[entry->line].gap > entry->epoch,
                      .bid = entry->bid,
                      .bid_size = entry->bid_size,
                      .offer = entry->offer,
                      .offer_size = entry->offer_size};
}

}  // namespace pinstrike::actors
