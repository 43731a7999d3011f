// path: cold
//
// Every order of a writer and a reader at the points between their steps: no read is torn, and a
// snapshot and the stream behind it have each event once.
#include "actors/book/bbo_rules.h"
#include "actors/book/flat_table.h"
#include "actors/book/line_memory.h"
#include "actors/publish/core_memory.h"
#include "actors/publish/reader/core_cursor.h"
#include "actors/publish/reader/series_reader.h"
#include "actors/publish/stream_writer.h"
#include "tests/actors/events.h"
#include "tests/actors/weave.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace pinstrike::actors::test {
namespace {

using reader::ReadResult;
using weave::Weaver;

constexpr unsigned few_tries = 2;  ///< more only repeat the same orders

/// What a book does with quotes of one core, without its other work.
class Writer {
  public:
    explicit Writer(std::size_t stream_records)
        : shape_{.series = 40, .slots = 64, .stream_records = stream_records}, memory_(shape_) {}

    BookEntry& insert(const feed::SeriesKey& key) { return *table_.insert(key); }

    /// A quote whose values all follow from its number.
    void quote(const feed::SeriesKey& key, std::uint32_t number) {
        // The second record is not used, but g++ does not know that.
        std::array<feed::Event, 2> records{testing::quote_of(key, number)};
        feed::Event& event = records[0];
        event.header.indicator = 'F';
        event.body.quote.bid = static_cast<std::int32_t>(number);
        event.body.quote.offer_size = number;
        BookEntry& entry = *table_.find(key);
        const std::uint64_t stamp = clock_.next(0);
        begin_quote(entry, stamp);
        ++entry.quotes;
        state_quote(entry, event);
        end_quote(entry, stamp | event.header.line);
        stream_.append(std::span{&event, 1}, clock_);
    }

    /// Volume and number of trades are the same.
    void trade(const feed::SeriesKey& key) {
        BookEntry& entry = *table_.find(key);
        const FlatTable<BookEntry>::Writing guard{table_.group_of(entry)};
        entry.record = 1 | PINSTRIKE_TRADES;
        pinstrike_trades& trades = memory_.span<pinstrike_trades>(memory_.core().trades)[1];
        ++trades.volume;
        RING_HOOK("writer:trade");
        ++trades.trades;
    }

    void flush() { lines()[1].flush_quotes(clock_.next(0)); }

    [[nodiscard]] std::span<LineMemory> lines() const {
        return memory_.span<LineMemory>(memory_.core().lines);
    }

    [[nodiscard]] reader::CoreView view() const {
        const auto* const bytes = reinterpret_cast<const std::byte*>(&memory_.core());
        return reader::view_core({bytes, CoreMemory::bytes_for(shape_)}, 0, 0);
    }

  private:
    CoreShape shape_;
    CoreMemory memory_;
    FlatTable<BookEntry> table_{shape_.series, memory_.span<BookEntry>(memory_.core().entries),
                                memory_.span<pinstrike_group>(memory_.core().groups)};
    StampClock clock_;
    StreamWriter stream_{memory_};
};

void fail_on_stuck(const std::string& trace) {
    ADD_FAILURE() << "stuck: " << trace;
}

const feed::SeriesKey spy = testing::series_of("SPY");

class WeaveReader : public ::testing::Test {
  protected:
    /// Walks the orders of a writer and a reader of new memory.
    std::size_t walk(std::size_t stream_records, const std::function<void(Writer&)>& prepare,
                     const std::function<void(Writer&)>& write,
                     const std::function<void(const reader::CoreView&)>& read,
                     const std::function<void()>& check) {
        return weaver_.walk(
            [&, stream_records] {
                writer_ = std::make_unique<Writer>(stream_records);
                prepare(*writer_);
                view_ = writer_->view();
                return std::vector<Weaver::Body>{[&] { write(*writer_); }, [&] { read(view_); }};
            },
            check, fail_on_stuck, 3);
    }

    Weaver weaver_;
    std::unique_ptr<Writer> writer_;
    reader::CoreView view_;
};

TEST_F(WeaveReader, a_series_is_never_torn) {
    reader::SeriesParts parts;
    ReadResult result{};
    std::size_t whole_reads = 0;
    const std::size_t orders = walk(
        4,
        [](Writer& writer) {
            writer.insert(spy);
            writer.quote(spy, 1);
        },
        [](Writer& writer) {
            writer.quote(spy, 2);
            writer.trade(spy);
            writer.trade(spy);
        },
        [&](const reader::CoreView& view) {
            reader::Patience patience{few_tries};
            result = reader::read_series(view, spy, patience, parts);
        },
        [&] {
            ASSERT_NE(result, ReadResult::absent) << weaver_.trace();
            if (result == ReadResult::read) {
                ++whole_reads;
                const pinstrike_entry& entry = parts.entry;
                EXPECT_EQ(entry.bid.sequence, entry.quotes) << weaver_.trace();
                EXPECT_EQ(entry.bid.value & 0xFFFF'FFFF, entry.quotes) << weaver_.trace();
                EXPECT_EQ(entry.offer.value >> 32, entry.quotes) << weaver_.trace();
                EXPECT_EQ(entry.stamp / PINSTRIKE_STAMP_PLACE, entry.quotes) << weaver_.trace();
                EXPECT_EQ(parts.trades.volume, parts.trades.trades) << weaver_.trace();
            }
        });
    EXPECT_GT(orders, 1000U);
    EXPECT_GT(whole_reads, orders / 2);
}

TEST_F(WeaveReader, a_series_is_found_while_others_move) {
    const auto key_at = [](std::int64_t strike) { return testing::series_of("QQQ", strike); };
    reader::SeriesParts parts;
    ReadResult result{};
    walk(
        0,
        [&](Writer& writer) {
            for (std::int64_t strike = 1; strike < 30; ++strike) {
                writer.insert(key_at(strike));
            }
            writer.insert(spy);
        },
        [&](Writer& writer) {
            for (std::int64_t strike = 30; strike < 33; ++strike) {
                writer.insert(key_at(strike));
            }
        },
        [&](const reader::CoreView& view) {
            reader::Patience patience{few_tries};
            result = reader::read_series(view, spy, patience, parts);
        },
        [&] {
            EXPECT_NE(result, ReadResult::absent) << weaver_.trace();
            EXPECT_TRUE(result != ReadResult::read || parts.entry.name == spy.name);
        });
}

TEST_F(WeaveReader, a_line_is_never_torn) {
    pinstrike_line line{};
    bool read = false;
    walk(
        0, [](Writer&) {},
        [](Writer& writer) {
            writer.flush();
            writer.flush();
        },
        [&](const reader::CoreView& view) {
            reader::Patience patience{few_tries};
            read = reader::read_line(view, 1, patience, line);
        },
        [&] {
            if (read) {
                EXPECT_EQ(line.changed, line.flush) << weaver_.trace();
                EXPECT_EQ(line.version, 2 * line.flush / PINSTRIKE_STAMP_PLACE) << weaver_.trace();
            }
        });
}

/// A reader that takes what has come, and joins it to its snapshot.
TEST_F(WeaveReader, a_stream_has_what_its_snapshot_has_not) {
    std::uint32_t covered = 0;
    std::vector<std::uint32_t> got;
    bool complete = false;
    walk(
        8,
        [](Writer& writer) {
            writer.insert(spy);
            writer.quote(spy, 1);
        },
        [](Writer& writer) {
            writer.quote(spy, 2);
            writer.quote(spy, 3);
        },
        [&](const reader::CoreView& view) {
            got.clear();
            reader::Patience patience{few_tries};
            reader::Tail tail;
            reader::SeriesParts parts;
            complete = reader::read_tail(view, patience, tail) &&
                       reader::read_series(view, spy, patience, parts) == ReadResult::read;
            if (!complete) {
                return;
            }
            covered = parts.entry.bid.sequence;
            reader::CoreCursor cursor{view};
            cursor.start(tail);
            while (cursor.load() == reader::CoreCursor::State::event) {
                cursor.take([&](const feed::Event& event, std::uint64_t stamp) {
                    if (stamp_after(stamp, parts.entry.stamp)) {
                        got.push_back(event.header.sequence);
                    }
                    return true;
                });
            }
        },
        [&] {
            for (std::size_t i = 0; complete && i < got.size(); ++i) {
                EXPECT_EQ(got[i], covered + 1 + i) << weaver_.trace();
            }
        });
}

TEST_F(WeaveReader, an_overrun_reader_knows_it) {
    std::vector<std::uint32_t> got;
    std::size_t overruns = 0;
    walk(
        2,
        [](Writer& writer) {
            writer.insert(spy);
            writer.quote(spy, 1);
        },
        [](Writer& writer) {
            for (std::uint32_t number = 2; number <= 5; ++number) {
                writer.quote(spy, number);
            }
        },
        [&](const reader::CoreView& view) {
            got.clear();
            reader::Patience patience{few_tries};
            reader::Tail tail;
            reader::CoreCursor cursor{view};
            if (!reader::read_tail(view, patience, tail)) {
                return;
            }
            cursor.start(tail);
            auto state = cursor.load();
            for (; state == reader::CoreCursor::State::event; state = cursor.load()) {
                cursor.take([&](const feed::Event& event, std::uint64_t stamp) {
                    got.push_back(event.header.sequence);
                    EXPECT_EQ(event.body.quote.offer_size, event.header.sequence);
                    EXPECT_EQ(stamp / PINSTRIKE_STAMP_PLACE, event.header.sequence);
                    return true;
                });
            }
            overruns += state == reader::CoreCursor::State::overrun ? 1 : 0;
            EXPECT_NE(state, reader::CoreCursor::State::diverged);
        },
        [&] {
            for (std::size_t i = 1; i < got.size(); ++i) {
                EXPECT_EQ(got[i], got[i - 1] + 1) << weaver_.trace();
            }
        });
    EXPECT_GT(overruns, 0U);
}

}  // namespace
}  // namespace pinstrike::actors::test
