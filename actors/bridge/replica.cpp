// path: mixed, hot: events
#include "actors/bridge/replica.h"

#include "actors/book/book_messages.h"

#include <algorithm>
#include <utility>

namespace pinstrike::actors::bridge {
namespace {

MemoryPlan plan_of(const ReplicaShape& shape, std::string name, PublishMemory memory) {
    return {.feed = std::move(name),
            .memory = memory,
            .cores = shape.cores,
            .nodes = {},
            .shape = {.series = shape.body.series,
                      .slots = shape.body.slots,
                      .stream_records = shape.body.stream_records},
            .by_underlying = shape.body.sharding == 1,
            .trade_date = shape.body.trade_date,
            .kept = true,  // readers find old values, marked as such, while there is no connection
            .gives_ids = false};
}

}  // namespace

std::size_t Replica::bytes_for(const ReplicaShape& shape) {
    return MemoryFile::bytes_for(plan_of(shape, "", PublishMemory::shm));
}

std::unique_ptr<Replica> Replica::make(const ReplicaShape& shape, std::string name,
                                       PublishMemory memory, JoinCounters& counters,
                                       Problems& problems) {
    auto file = MemoryFile::make(plan_of(shape, std::move(name), memory), problems);
    if (file == nullptr) {
        return nullptr;
    }
    std::unique_ptr<Replica> made{new Replica{counters}};
    made->publisher_ = std::make_unique<Publisher>(std::move(file));
    const auto count = static_cast<unsigned>(shape.cores.size());
    for (unsigned i = 0; i < count; ++i) {
        auto book = std::make_unique<Book>(BookConfig{.series_capacity = shape.body.series},
                                           made->publisher_->core(i));
        book->on_start({.name = shape.cores[i], .index = i, .cores_count = count});
        made->books_.push_back(std::move(book));
    }
    made->looked_at_.resize(count, 1);
    return made;
}

void Replica::take_line(std::size_t core, const LineBody& line) {
    LineMemory& here =
        books_[core]->entries().store.lines[static_cast<std::uint16_t>(line.version)];
    static_cast<pinstrike_line&>(here) = line;
    here.version = 2;  // even, and not that of a line on which nothing happened
}

void Replica::take_series(std::size_t core, const SeriesBody& series) {
    BookEntries& entries = books_[core]->entries();
    const feed::SeriesKey key{series.entry.name, series.entry.strike_e8};
    BookEntry* const entry = entries.entry_for(key);
    counters_.bump(JoinCount::series);
    if (entry == nullptr) {
        counters_.bump(JoinCount::series_refused);
        return;
    }
    const auto guard = entries.store.writing(*entry);
    BookEntry from;
    static_cast<pinstrike_entry&>(from) = series.entry;
    if (from.announced() != 0) {
        entries.announce(*entry, from.line());
        entry->set_announced(from.announced());
    }
    entry->bid = from.bid;
    entry->offer = from.offer;
    entry->quotes = from.quotes;
    if (from.has_trades()) {
        entries.trades_of(*entry) = series.trades;
    } else {
        entry->record &= ~std::uint32_t{PINSTRIKE_TRADES};
    }
    entry->stamp = from.stamp;
    entries.store.directory.set_id(entry->index(), from.index());
}

bool Replica::apply_at(std::size_t core, const feed::Event& event, std::uint64_t stamp) {
    BookEntries& entries = books_[core]->entries();
    if (feed::has_series(event.header.kind)) {
        const BookEntry* const entry = entries.store.table.find(event.body.series);
        if (entry != nullptr && !stamp_after(stamp, entry->stamp)) {
            return false;
        }
    }
    entries.clock.set(stamp);
    apply_message(entries, event);
    return true;
}

void Replica::set_clock(std::size_t core, const FrameHeader& ready) {
    BookEntries& entries = books_[core]->entries();
    entries.clock.start(ready.base_ms, ready.stamp, ready.ms);
    entries.store.stream.append({}, entries.clock);
}

void Replica::publish() {
    publisher_->start();
    published_ = true;
}

void Replica::run_timers(std::int64_t now_ns) {
    for (const auto& book : books_) {
        book->on_timer(now_ns);
    }
}

std::vector<feed::SeriesKey> Replica::without_id(std::size_t core, std::size_t max) {
    const CoreMemory& memory = books_[core]->entries().store.memory;
    const auto series = memory.span<pinstrike_series>(memory.core().series);
    const std::uint32_t end = memory.core().series_count + 1;
    std::vector<feed::SeriesKey> keys;
    // A removed series can leave its record to another one, so all are looked at in turn.
    constexpr std::uint32_t looks_max = 4096;
    for (std::uint32_t i = 0; i < std::min(end, looks_max) && keys.size() < max; ++i) {
        std::uint32_t& at = looked_at_[core];
        at = at >= end ? 1 : at;
        if (at < end && series[at].name != 0 && series[at].id == 0) {
            keys.push_back({series[at].name, series[at].strike_e8});
        }
        ++at;
    }
    return keys;
}

void Replica::set_id(std::size_t core, const feed::SeriesKey& key, std::uint32_t id) {
    BookEntries& entries = books_[core]->entries();
    const BookEntry* const entry = entries.store.table.find(key);
    if (entry != nullptr && id != 0) {
        entries.store.directory.set_id(entry->index(), id);
        counters_.bump(JoinCount::ids);
    }
}

// --- hot ---

void Replica::apply(std::size_t core, std::span<const feed::Event> records) {
    books_[core]->on_events(EventBatch{records});
}

}  // namespace pinstrike::actors::bridge
