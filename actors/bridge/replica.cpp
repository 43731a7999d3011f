// path: mixed, hot: events
#include "actors/bridge/replica.h"

#include "actors/book/book_messages.h"
#include "config/time_units.h"

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
            .number_last = shape.body.number_last,
            .kept = true,  // readers find old values, marked as such, while there is no connection
            .linked_later = true,
            .gives_ids = false};
}

}  // namespace

std::size_t Replica::bytes_for(const ReplicaShape& shape) {
    return MemoryFile::bytes_for(plan_of(shape, "", PublishMemory::shm));
}

std::unique_ptr<Replica> Replica::make(const ReplicaShape& shape, const std::string& name,
                                       PublishMemory memory, JoinCounters& counters,
                                       Problems& problems) {
    Problems first;
    auto file = MemoryFile::make(plan_of(shape, name, memory), first);
    if (file == nullptr) {
        // There may be no room beside the memory of the state before.
        static_cast<void>(forget_memory(name, first));
        file = MemoryFile::make(plan_of(shape, name, memory), problems);
    }
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
    made->id_passes_.resize(count);
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
    want_id(core, entry->index());
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

bool Replica::publish(Problems& problems) {
    for (std::size_t core = 0; core < books_.size(); ++core) {  // the state had the ids of these
        id_passes_[core].known = books_[core]->entries().store.memory.core().series_count + 1;
    }
    publisher_->start();
    published_ = publisher_->link(problems);
    return published_;
}

void Replica::run_timers(std::int64_t now_ns) {
    for (const auto& book : books_) {
        book->on_timer(now_ns);
    }
}

std::vector<feed::SeriesKey> Replica::without_id(std::size_t core, std::int64_t now_ns) {
    constexpr std::int64_t again_after_ns = 250 * ms_ns;
    constexpr std::size_t keys_max = 512;
    constexpr std::uint32_t looks_max = 4096;
    const CoreMemory& memory = books_[core]->entries().store.memory;
    const auto series = memory.span<pinstrike_series>(memory.core().series);
    const std::uint32_t end = memory.core().series_count + 1;
    IdPass& pass = id_passes_[core];
    std::uint32_t looks = std::min(end, looks_max);
    for (; pass.known < end && looks != 0; --looks) {
        want_id(core, pass.known++);
    }
    // A removed series can leave its record to another one, so all are looked at in turn.
    for (; looks != 0; --looks) {
        pass.at = pass.at >= end ? 1 : pass.at;
        want_id(core, pass.at++);
    }
    std::vector<feed::SeriesKey> keys;
    for (auto at = pass.wanted.begin(); at != pass.wanted.end();) {
        auto& [index, wanted] = *at;
        const pinstrike_series& listed = series[index];
        if (listed.name == 0 || listed.id != 0) {
            at = pass.wanted.erase(at);
            continue;
        }
        if (const feed::SeriesKey key{listed.name, listed.strike_e8}; !(key == wanted.key)) {
            wanted = {.key = key};
        }
        if (now_ns >= wanted.due_ns && keys.size() < keys_max) {
            wanted.due_ns = now_ns + again_after_ns;
            keys.push_back(wanted.key);
        }
        ++at;
    }
    return keys;
}

/// Notes a series that has no id. More than so many wait for a later look at the directory.
void Replica::want_id(std::size_t core, std::uint32_t index) {
    constexpr std::size_t wanted_max = 8192;
    const CoreMemory& memory = books_[core]->entries().store.memory;
    const auto series = memory.span<pinstrike_series>(memory.core().series);
    IdPass& pass = id_passes_[core];
    if (index < series.size() && series[index].name != 0 && series[index].id == 0 &&
        pass.wanted.size() < wanted_max) {
        pass.wanted.try_emplace(index, Wanted{{series[index].name, series[index].strike_e8}});
    }
}

void Replica::set_id(std::size_t core, const feed::SeriesKey& key, std::uint32_t id) {
    BookEntries& entries = books_[core]->entries();
    const BookEntry* const entry = entries.store.table.find(key);
    if (entry == nullptr) {
        return;
    }
    if (id != 0) {
        entries.store.directory.set_id(entry->index(), id);
        counters_.bump(JoinCount::ids);
    } else if (const auto found = id_passes_[core].wanted.find(entry->index());
               found != id_passes_[core].wanted.end()) {
        found->second.due_ns = 0;
    }
}

// --- hot ---

void Replica::apply(std::size_t core, std::span<const feed::Event> records) {
    books_[core]->on_events(EventBatch{records});
}

}  // namespace pinstrike::actors::bridge
