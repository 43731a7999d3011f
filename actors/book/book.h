// path: hot
//
// The book: the state of every series as OPRA states it. Each core has a book for its share of the
// series. The rules are in trade_rules.h and bbo_rules.h; line_memory.h keeps what happened to each
// line.
//
// book.cpp has the path of a message that comes in order. The other parts are: late messages
// (book_late.cpp), events of lines (book_lines.cpp), entries of the table (book_entries.cpp),
// periodic work (book_timer.cpp), the state of a series for readers (book_state.cpp), the book's
// report (book_report.cpp), and the exchange of state with peers (transfer/book_transfer.cpp).
//
// A series map, from the day's file or from a line, creates a table entry that stays invisible to
// readers until the first message that states something of the series.
//
// The book gets messages of every kind. A message that states nothing of a series costs one branch.
// To filter such messages would cost time for every message, and would cut batches into pieces that
// are too short for prefetching.
//
// Messages are applied in stretches, whose entries are prefetched together: the first pass
// prefetches the first slot of every series, the second pass the second slot of those that are not
// in their first slot, and the third pass applies the messages.
#pragma once

#include "actors/book/bbo_rules.h"
#include "actors/book/book_config.h"
#include "actors/book/book_counts.h"
#include "actors/book/book_entry.h"
#include "actors/book/book_store.h"
#include "actors/book/busiest.h"
#include "actors/book/line_memory.h"
#include "actors/book/series_state.h"
#include "actors/book/trade_rules.h"
#include "actors/book/transfer/book_transfer.h"
#include "actors/core/actor.h"
#include "actors/publish/core_memory.h"
#include "actors/publish/directory.h"
#include "actors/publish/stamp.h"
#include "actors/publish/stream_writer.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pinstrike::actors {

class Book final : public Actor {
  public:
    /// Maps private memory for its share of `config.series_capacity`, which on_start touches.
    /// Throws std::bad_alloc if there is too little memory.
    Book(const BookConfig& config, unsigned cores_count)
        : Book(config, CoreMemory{book_shape(config, cores_count)}) {}

    /// Keeps its state in memory of the shape book_shape(), which is zero.
    Book(const BookConfig& config, CoreMemory memory)
        : config_(config), store_(std::move(memory)) {}

    [[nodiscard]] std::string_view name() const override { return BookConfig::kind; }

    [[nodiscard]] std::vector<ActorFigures> figures() const override;
    [[nodiscard]] std::vector<AccountRow> account_rows() const override;
    [[nodiscard]] std::vector<std::string> remarks() const override;
    [[nodiscard]] std::vector<RankedSeries> busiest() const override;

    bool join_transfer(bool takes, StateRings& rings) override {
        join_transfer({.takes = takes}, std::move(rings));
        return true;
    }

    /// Gives state to peers and takes it from them over these rings. Called before on_start.
    void join_transfer(const BookTransferConfig& config, StateRings rings);

    void on_start(const CoreInfo& core) override;
    void on_events(EventBatch batch) override;
    void on_timer(std::int64_t now_ns) override;
    std::size_t on_idle() override;
    void on_stop() override;

    /// The state of a series; nullopt if the book has none. Called on the book's own thread, or
    /// after the book has stopped.
    [[nodiscard]] std::optional<SeriesState> find(const feed::SeriesKey& key) const;

    /// Calls visit(SeriesKey) for every listed series, in no order. Called on the same threads as
    /// find().
    template <class Visit>
    void for_each_series(Visit&& visit) const {
        for (std::size_t slot = 0; slot < store_.table.slots(); ++slot) {
            const BookEntry& entry = store_.table.at(slot);
            if (known(entry) && lists(entry.key())) {
                visit(entry.key());
            }
        }
    }

    /// The number of listed series. Walks the table. Called on the same threads as find().
    [[nodiscard]] std::size_t series_count() const;

    /// The number of entries in the table: with messages, only announced, or forgotten and not yet
    /// removed. May be called by any thread.
    [[nodiscard]] std::uint64_t entries_count() const { return entries_.read(); }

    /// Of these, the number of entries that a series map announced, with or without messages. May
    /// be called by any thread.
    [[nodiscard]] std::uint64_t announced_count() const { return announced_entries_.read(); }

    [[nodiscard]] const BookCounters& counters() const { return counters_; }

  private:
    /// A message whose entry is being prefetched.
    struct Lookup {
        const feed::Event* event;
        BookStore::Table::Places places;
        BookEntry* entry;  ///< set by end_lookup()
    };

    [[nodiscard]] bool forgotten(const BookEntry& entry) const {
        return stamp_after(store_.lines[entry.line()].day, entry.stamp);
    }

    /// Whether nothing but a flush of quotes happened to the line of an entry with quotes since the
    /// entry was last brought up to date. Computed without branches, so that the caller needs only
    /// one: after a flush, each entry meets the flush at its first quote, which a branch cannot
    /// predict.
    [[nodiscard]] static bool stands(const BookEntry& entry, const LineMemory& line,
                                     std::uint16_t number) {
        const auto old = [&entry](std::uint64_t stamp) -> unsigned {
            return stamp_after(stamp, entry.stamp) ? 0 : 1;
        };
        const unsigned no_trades = entry.has_trades() ? 0 : 1;
        const unsigned same_line = entry.line() == number ? 1 : 0;
        const unsigned quoted = entry.quotes != 0 ? 1 : 0;
        return (same_line & quoted & old(line.day) & old(line.late_flush) & old(line.gap) &
                (no_trades | old(line.flush))) != 0;
    }

    /// Whether messages stated something of the series since the last start of day.
    [[nodiscard]] bool known(const BookEntry& entry) const {
        return heard(entry) && !forgotten(entry);
    }

    [[nodiscard]] bool lists(const feed::SeriesKey& key) const;

    /// Prefetches the first slot of the event's series. Line and gap events have other bytes in
    /// place of the series, so their prefetch is useless but harmless.
    void begin_lookup(Lookup& lookup, const feed::Event& event) const {
        lookup.event = &event;
        lookup.places = store_.table.places(feed::hash(event.body.series));
        __builtin_prefetch(lookup.places.first, 1);
    }

    /// Prefetches the slot that holds the series, if any. Called when the first slot has arrived.
    static void end_lookup(Lookup& lookup) {
        lookup.entry = lookup.places.of(lookup.event->body.series);
        __builtin_prefetch(lookup.entry, 1);
    }

    void apply_all(EventBatch batch);
    void apply(const Lookup& lookup, std::uint64_t stamp);
    void apply_again(const feed::Event& event);
    void watch(const feed::Event& event);
    void apply_series(const feed::Event& event);
    void apply_rare_quote(const feed::Event& event);
    void apply_trade(const feed::Event& event);
    void apply_open_interest(const feed::Event& event);
    void apply_end_of_day(const feed::Event& event);
    void apply_series_map(const feed::Event& event);
    void apply_late_quote(BookEntry& entry, const feed::Event& event, const MessageOrder& order);
    void apply_control(const feed::Event& event);
    void apply_gap(const feed::Event& event);

    BookEntry* entry_for(const feed::SeriesKey& key) {
        BookEntry* const entry = store_.table.find(key);
        return entry != nullptr ? entry : enter(key);
    }

    MessageOrder arrive(BookEntry& entry, const feed::Header& header);
    MessageOrder arrive_late(BookEntry& entry, const feed::Header& header);
    BookEntry* enter(const feed::SeriesKey& key);
    bool catch_up_with_line(BookEntry& entry);

    /// The entry includes all events so far, and its latest message came on `line`.
    void adopt_line(BookEntry& entry, std::uint16_t line) const {
        entry.stamp = clock_.stamp() | line;
    }

    void clear_flushed_sides(BookEntry& entry) const;
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
    [[nodiscard]] bool load_series(const StateRecord& record);
    [[nodiscard]] bool join(const StateRecord& record);
    void load_loss(const StateRecord& record);
    [[nodiscard]] StateVerdict judge(const StateRecord& record) const;
    [[nodiscard]] StateVerdict load_state(const StateRecord& record);
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
    void publish();
    void publish_busiest();
    [[nodiscard]] SideState state_of(const BookEntry& entry, const BookSide& side) const;

    BookConfig config_;
    BookStore store_;
    StampClock clock_;  ///< at the event that is being applied
    Sweeper sweeper_;
    std::int64_t publish_due_ns_ = 0;
    std::size_t announced_ = 0;
    unsigned sample_ = 0;  ///< selects the message for watch()
    BusiestCandidates candidates_;
    BookCounters counters_;
    Counter entries_;
    Counter announced_entries_;
    BusiestBoard board_;
    std::unique_ptr<BookTransfer> transfer_;  ///< null: no state is exchanged
};

}  // namespace pinstrike::actors
