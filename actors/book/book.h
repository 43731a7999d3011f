// path: hot
//
// The book: what is known of every series, as OPRA says it, kept by one core for its share of the
// series. Rules: trade_rules.h, bbo_rules.h; what happens to lines: line_memory.h.
//
// book.cpp is the way of a message in order. Beside it: what comes late (book_late.cpp), what
// happens to lines (book_lines.cpp), which series have an entry (book_entries.cpp), each
// participant's quotes (book_venues.cpp), what is done now and then (book_timer.cpp), what the book
// says of a series (book_state.cpp) and of itself (book_report.cpp), and what it gives to peers and
// takes from them (book_transfer.cpp).
//
// A series map, of the day's file or of the wire, makes a series known: its entry is in the table,
// and in nothing that the book says, until a message states something of it.
//
// It takes messages of every kind: those that state nothing of a series cost a branch; to pick them
// out costs each message, and cuts batches into pieces too short to look ahead in.
//
// Messages are applied in stretches, whose entries are on their way from memory together: all
// series' first places are asked for, then the second of those that are not there, then all is
// applied.
#pragma once

#include "actors/book/bbo_rules.h"
#include "actors/book/book_config.h"
#include "actors/book/book_counts.h"
#include "actors/book/book_entry.h"
#include "actors/book/busiest.h"
#include "actors/book/flat_table.h"
#include "actors/book/line_memory.h"
#include "actors/book/series_state.h"
#include "actors/book/trade_pool.h"
#include "actors/book/trade_rules.h"
#include "actors/book/transfer/book_transfer.h"
#include "actors/core/actor.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pinstrike::actors {

class Book final : public Actor {
  public:
    /// Maps the memory for its share of `config.series_capacity` (std::bad_alloc if there is none);
    /// on_start touches it.
    Book(const BookConfig& config, unsigned cores_count);

    [[nodiscard]] std::string_view name() const override { return BookConfig::kind; }

    [[nodiscard]] std::vector<ActorFigures> figures() const override;
    [[nodiscard]] std::vector<AccountRow> account_rows() const override;
    [[nodiscard]] std::vector<std::string> remarks() const override;

    [[nodiscard]] const BusiestBoard* busiest() const override { return &board_; }

    bool join_transfer(bool takes, StateRings& rings) override {
        join_transfer({.takes = takes}, std::move(rings));
        return true;
    }

    /// Before on_start: series are given over these rings, and taken.
    void join_transfer(const BookTransferConfig& config, StateRings rings);

    void on_start(const CoreInfo& core) override;
    void on_events(EventBatch batch) override;
    void on_timer(std::int64_t now_ns) override;
    std::size_t on_idle() override;
    void on_stop() override;

    /// The state of a series; nullopt where nothing is known of it. For readers on the book's own
    /// thread, or after it has stopped.
    [[nodiscard]] std::optional<SeriesState> find(const feed::SeriesKey& key) const;

    /// A participant's last quote of a series; nullopt also where BookConfig::venue_quotes is off.
    [[nodiscard]] std::optional<VenueQuote> venue_quote(const feed::SeriesKey& key,
                                                        char participant) const;

    /// Calls visit(SeriesKey) for every series that is listed, in no order. Threads as find().
    template <class Visit>
    void for_each_series(Visit&& visit) const {
        for (std::size_t slot = 0; slot < table_.slots(); ++slot) {
            const BookEntry& entry = table_.at(slot);
            if (known(entry) && lists(entry.key)) {
                visit(entry.key);
            }
        }
    }

    /// How many series are listed; walks the table. Threads as find().
    [[nodiscard]] std::size_t series_count() const;

    /// Entries in the table: heard, announced, or forgotten and not yet taken out. Any thread.
    [[nodiscard]] std::uint64_t entries_count() const { return entries_.read(); }

    /// Of these, those that a series map announced, heard or not. Any thread.
    [[nodiscard]] std::uint64_t announced_count() const { return announced_entries_.read(); }

    [[nodiscard]] const BookCounters& counters() const { return counters_; }

    /// Room of one of `cores_count` books.
    [[nodiscard]] static std::size_t series_share(const BookConfig& config, unsigned cores_count);

    /// Memory of all books of a config together.
    [[nodiscard]] static std::size_t memory_bytes(const BookConfig& config, unsigned cores_count);

  private:
    /// A message whose entry is on its way from memory.
    struct Sought {
        const feed::Event* event;
        FlatTable<BookEntry>::Places places;
        BookEntry* entry;  ///< once the first of its places has come
    };

    [[nodiscard]] bool forgotten(const BookEntry& entry) const {
        return lines_[entry.line].day > entry.epoch;
    }

    /// True where nothing has happened to a quoted entry since it was touched but a flush of
    /// quotes. One sum and one branch: behind a flush it is as good as random which entry meets it
    /// first.
    [[nodiscard]] static bool stands(const BookEntry& entry, const LineMemory& line,
                                     std::uint16_t number) {
        const std::uint32_t rare = std::max({line.day, line.late_flush, line.gap});
        const bool trades_stand = (entry.trade_record == 0) | (line.flush <= entry.epoch);
        return (entry.line == number) & (entry.quotes != 0) & (rare <= entry.epoch) & trades_stand;
    }

    /// Heard and not forgotten.
    [[nodiscard]] bool known(const BookEntry& entry) const {
        return heard(entry) && !forgotten(entry);
    }

    /// A venue's quote is forgotten with the best ones.
    [[nodiscard]] bool forgotten(const VenueEntry& entry) const {
        const LineMemory& line = lines_[entry.line];
        return line.day > entry.epoch || line.flush > entry.epoch || line.late_flush > entry.epoch;
    }

    [[nodiscard]] bool lists(const feed::SeriesKey& key) const;

    /// Line and gap events have bytes where others have a series: what is fetched is of no use
    /// then, and of no harm.
    void seek(Sought& sought, const feed::Event& event) const {
        sought.event = &event;
        sought.places = table_.places(feed::hash(event.body.series));
        __builtin_prefetch(sought.places.first, 1);
    }

    /// When the first place has come.
    static void seek_again(Sought& sought) {
        sought.entry = sought.places.of(sought.event->body.series);
        __builtin_prefetch(sought.entry, 1);
    }

    template <bool keeps_venues>
    void apply_all(EventBatch batch);
    template <bool keeps_venues>
    void apply(const Sought& sought);
    void apply_again(const feed::Event& event);
    void watch(const feed::Event& event);
    void apply_series(const feed::Event& event);
    void apply_rare_quote(const feed::Event& event);
    void apply_trade(const feed::Event& event);
    void apply_open_interest(const feed::Event& event);
    void apply_end_of_day(const feed::Event& event);
    void apply_series_map(const feed::Event& event);
    void apply_late_quote(BookEntry& entry, const feed::Event& event, const Standing& standing);
    void apply_control(const feed::Event& event);
    void apply_gap(const feed::Event& event);
    void keep_venue_quote(const feed::Event& event);

    BookEntry* entry_for(const feed::SeriesKey& key) {
        BookEntry* const entry = table_.find(key);
        return entry != nullptr ? entry : enter(key);
    }

    Standing arrive(BookEntry& entry, const feed::Header& header);
    Standing arrive_late(BookEntry& entry, const feed::Header& header);
    BookEntry* enter(const feed::SeriesKey& key);
    bool settle(BookEntry& entry);

    void settle_anew(BookEntry& entry, std::uint16_t line) {
        entry.line = line;
        entry.epoch = lines_[line].epoch;
    }

    void settle_sides(BookEntry& entry) const;
    void leave_line(BookEntry& entry);
    void touch_elsewhere(BookEntry& entry);
    void forget(BookEntry& entry);
    TradeRecord& trades_of(BookEntry& entry);

    void start_transfer();
    void note_for_transfer(EventBatch batch);
    void remember(const feed::Event& event);
    void join_forced(std::uint16_t number);
    void pass_on_loss(const feed::Event& event);
    void time_transfer();
    std::size_t step_transfer();
    std::size_t read_transfer();
    [[nodiscard]] bool obey(const StateRecord& record);
    [[nodiscard]] bool take(const StateRecord& record);
    [[nodiscard]] bool join(const StateRecord& record);
    void take_loss(const StateRecord& record);
    [[nodiscard]] StateVerdict judge(const StateRecord& record) const;
    [[nodiscard]] StateVerdict take_state(const StateRecord& record);
    [[nodiscard]] bool heard_lately(const BookEntry& entry) const;
    void adopt(BookEntry& entry, const StateRecord& record);
    void replay(const StateRecord& record);
    void keep_newer(BookSide& side, BookSide own, const BookEntry& entry,
                    const CoveredPlace& place) const;
    void note_forced(const StateRecord& record);
    std::size_t walk();
    std::size_t walk_lines();
    void give(BookEntry& entry, StateRecord& record);
    [[nodiscard]] bool covered(const BookEntry& entry, const feed::Header& header) const;

    void sweep(std::size_t slots_count);
    void sweep_venues(std::size_t slots_count);
    void publish();
    void publish_busiest();
    [[nodiscard]] SideState state_of(const BookEntry& entry, const BookSide& side) const;

    BookConfig config_;
    FlatTable<BookEntry> table_;
    TradePool trades_;
    FlatTable<VenueEntry> venues_;
    PageArray<LineMemory> lines_;  ///< by line number: any 16 bits are a line
    Sweeper sweeper_;
    Sweeper venue_sweeper_;
    std::int64_t publish_due_ns_ = 0;
    std::size_t announced_ = 0;
    unsigned sample_ = 0;  ///< chooses the message that is watched
    BusiestCandidates candidates_;
    BookCounters counters_;
    Counter entries_;
    Counter announced_entries_;
    BusiestBoard board_;
    std::unique_ptr<BookTransfer> transfer_;  ///< null: state goes nowhere
};

}  // namespace pinstrike::actors
