// path: cold
//
// Every order of a writer and a reader at the points between their steps: no read is torn, and a
// snapshot and the stream behind it have each event once.
#include "actors/publish/core_memory.h"
#include "actors/publish/reader/core_cursor.h"
#include "actors/publish/reader/series_reader.h"
#include "tests/actors/events.h"
#include "tests/actors/publish/quote_writer.h"
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

void fail_on_stuck(const std::string& trace) {
    ADD_FAILURE() << "stuck: " << trace;
}

/// Of private memory, which begins with the core.
reader::CoreView view_of(const pinstrike_core& core, std::size_t bytes) {
    return reader::view_core({reinterpret_cast<const std::byte*>(&core), bytes}, 0, 0);
}

const feed::SeriesKey spy = testing::series_of("SPY");

class WeaveReader : public ::testing::Test {
  protected:
    /// Walks the orders of a writer and a reader of new memory.
    std::size_t walk(std::size_t stream_records, const std::function<void(QuoteWriter&)>& prepare,
                     const std::function<void(QuoteWriter&)>& write,
                     const std::function<void(const reader::CoreView&)>& read,
                     const std::function<void()>& check) {
        return weaver_.walk(
            [&, stream_records] {
                const CoreShape shape{.series = 40, .slots = 64, .stream_records = stream_records};
                writer_ = std::make_unique<QuoteWriter>(CoreMemory{shape});
                prepare(*writer_);
                view_ = view_of(writer_->core(), CoreMemory::bytes_for(shape));
                return std::vector<Weaver::Body>{[&] { write(*writer_); }, [&] { read(view_); }};
            },
            check, fail_on_stuck, 3);
    }

    Weaver weaver_;
    std::unique_ptr<QuoteWriter> writer_;
    reader::CoreView view_;
};

TEST_F(WeaveReader, a_series_is_never_torn) {
    reader::SeriesParts parts;
    ReadResult result{};
    std::size_t whole_reads = 0;
    const std::size_t orders = walk(
        4,
        [](QuoteWriter& writer) {
            writer.insert(spy);
            writer.quote(spy, 1);
        },
        [](QuoteWriter& writer) {
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
        [&](QuoteWriter& writer) {
            for (std::int64_t strike = 1; strike < 30; ++strike) {
                writer.insert(key_at(strike));
            }
            writer.insert(spy);
        },
        [&](QuoteWriter& writer) {
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
        0, [](QuoteWriter&) {},
        [](QuoteWriter& writer) {
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
        [](QuoteWriter& writer) {
            writer.insert(spy);
            writer.quote(spy, 1);
        },
        [](QuoteWriter& writer) {
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
        [](QuoteWriter& writer) {
            writer.insert(spy);
            writer.quote(spy, 1);
        },
        [](QuoteWriter& writer) {
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
