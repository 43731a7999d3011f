// path: hot
//
// The book: the state of every series as OPRA states it. Each core has a book for its share of the
// series. The rules are in trade_rules.h and bbo_rules.h; line_memory.h keeps what happened to each
// line.
//
// book.cpp has the path of a quote that comes in order. All other messages are applied by
// book_messages.h. The other parts of the actor are: periodic work (book_timer.cpp), the state of a
// series for readers (book_state.cpp) and the book's report (book_report.cpp). The exchange of
// state with peers is an object of its own (transfer/book_transfer.h), because it needs only the
// entries and apply_message().
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

#include "actors/book/book_config.h"
#include "actors/book/book_counts.h"
#include "actors/book/book_entries.h"
#include "actors/book/book_entry.h"
#include "actors/book/book_store.h"
#include "actors/book/busiest.h"
#include "actors/book/series_state.h"
#include "actors/book/transfer/book_transfer.h"
#include "actors/core/actor.h"
#include "actors/publish/core_memory.h"

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
    /// Maps private memory for its share of `config.series_capacity`, which on_start touches.
    /// Throws std::bad_alloc if there is too little memory.
    Book(const BookConfig& config, unsigned cores_count)
        : Book(config, CoreMemory{book_shape(config, cores_count)}) {}

    /// Keeps its state in memory of the shape book_shape(), which is zero.
    Book(const BookConfig& config, CoreMemory memory)
        : config_(config), entries_(std::move(memory)) {}

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
        const BookStore::Table& table = entries_.store.table;
        for (std::size_t slot = 0; slot < table.slots(); ++slot) {
            const BookEntry& entry = table.at(slot);
            if (entries_.known(entry) && lists(entry.key())) {
                visit(entry.key());
            }
        }
    }

    /// The number of listed series. Walks the table. Called on the same threads as find().
    [[nodiscard]] std::size_t series_count() const;

    /// The number of entries in the table: with messages, only announced, or forgotten and not yet
    /// removed. May be called by any thread.
    [[nodiscard]] std::uint64_t entries_count() const { return entries_count_.read(); }

    /// Of these, the number of entries that a series map announced, with or without messages. May
    /// be called by any thread.
    [[nodiscard]] std::uint64_t announced_count() const { return announced_count_.read(); }

    [[nodiscard]] const BookCounters& counters() const { return entries_.counters; }

    /// For code on the book's thread that brings the state of series into it.
    [[nodiscard]] BookEntries& entries() { return entries_; }

  private:
    /// A message whose entry is being prefetched.
    struct Lookup {
        const feed::Event* event;
        std::uint64_t hash;  ///< of the event's series
        BookEntry* entry;
    };

    [[nodiscard]] bool lists(const feed::SeriesKey& key) const;

    /// Prefetches the first slot of the event's series. Line and gap events have other bytes in
    /// place of the series, so their prefetch is useless but harmless.
    void begin_lookup(Lookup& lookup, const feed::Event& event) const {
        lookup.event = &event;
        lookup.hash = feed::hash(event.body.series);
        lookup.entry = entries_.store.table.places(lookup.hash).first;
        __builtin_prefetch(lookup.entry, 1);
    }

    /// Prefetches the second slot if the series is not in the first one. Called when the first slot
    /// has arrived.
    void end_lookup(Lookup& lookup) const {
        if (!(lookup.entry->key() == lookup.event->body.series)) {
            lookup.entry = entries_.store.table.places(lookup.hash).second;
            __builtin_prefetch(lookup.entry, 1);
        }
    }

    void apply_all(EventBatch batch);
    void apply(const Lookup& lookup, std::uint64_t stamp);
    void watch(const feed::Event& event);
    void publish();
    void publish_busiest();

    BookConfig config_;
    BookEntries entries_;
    std::int64_t publish_due_ns_ = 0;
    unsigned sample_ = 0;  ///< selects the message for watch()
    BusiestCandidates candidates_;
    Counter entries_count_;
    Counter announced_count_;
    BusiestBoard board_;
    std::unique_ptr<BookTransfer> transfer_;  ///< null: no state is exchanged
};

}  // namespace pinstrike::actors
