// path: cold
//
// What a book does with quotes of one core, without its other work.
#pragma once

#include "actors/book/book_entry.h"
#include "actors/book/flat_table.h"
#include "actors/publish/bbo_rules.h"
#include "actors/publish/core_memory.h"
#include "actors/publish/directory.h"
#include "actors/publish/line_memory.h"
#include "actors/publish/stream_writer.h"
#include "config/hooks.h"
#include "tests/actors/events.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace pinstrike::actors::test {

class QuoteWriter {
  public:
    explicit QuoteWriter(CoreMemory memory) : memory_(std::move(memory)) {}

    void insert(const feed::SeriesKey& key) {
        BookEntry* const entry = table_.insert(key);
        entry->record = directory_.add(key);
    }

    /// Quotes whose values all follow from their number, as one batch.
    void quote(std::span<const feed::SeriesKey> keys, std::uint32_t number) {
        events_.clear();
        for (const feed::SeriesKey& key : keys) {
            apply(events_.emplace_back(event_of(key, number)));
        }
        stream_.append(events_, clock_);
    }

    void quote(const feed::SeriesKey& key, std::uint32_t number) { quote({&key, 1}, number); }

    /// Volume and number of trades are the same.
    void trade(const feed::SeriesKey& key) {
        BookEntry& entry = *table_.find(key);
        const FlatTable<BookEntry>::Writing guard{table_.group_of(entry)};
        entry.record |= PINSTRIKE_TRADES;
        pinstrike_trades& trades =
            memory_.span<pinstrike_trades>(memory_.core().trades)[entry.index()];
        ++trades.volume;
        RING_HOOK("writer:trade");
        ++trades.trades;
    }

    /// A flush of quotes of line 1.
    void flush() {
        events_.clear();
        const feed::Event& event =
            events_.emplace_back(test_events::control_of('J', feed::Forget::quotes, 1));
        lines()[1].flush_quotes(clock_.next(event.header.ts_receive_ns));
        stream_.append(events_, clock_);
    }

    [[nodiscard]] std::span<LineMemory> lines() const {
        return memory_.span<LineMemory>(memory_.core().lines);
    }

    [[nodiscard]] pinstrike_core& core() const { return memory_.core(); }

  private:
    static feed::Event event_of(const feed::SeriesKey& key, std::uint32_t number) {
        feed::Event event = test_events::quote_of(key, number);
        const auto price = static_cast<std::int32_t>(number);
        event.header.indicator = 'F';
        event.body.quote = {key, price, number, price, number};
        return event;
    }

    void apply(const feed::Event& event) {
        BookEntry& entry = *table_.find(event.body.series);
        const std::uint64_t stamp = clock_.next(event.header.ts_receive_ns);
        begin_quote(entry, stamp);
        ++entry.quotes;
        state_quote(entry, event);
        end_quote(entry, stamp | event.header.line);
    }

    CoreMemory memory_;
    FlatTable<BookEntry> table_{memory_.core().series.count - 1,
                                memory_.span<BookEntry>(memory_.core().entries),
                                memory_.span<pinstrike_group>(memory_.core().groups)};
    Directory directory_{memory_};
    StampClock clock_;
    StreamWriter stream_{memory_};
    std::vector<feed::Event> events_;
};

}  // namespace pinstrike::actors::test
