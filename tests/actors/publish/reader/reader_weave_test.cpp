// path: cold
//
// Every order of a writer and a reader at the points between their steps: no read is torn, and a
// snapshot and the stream behind it have each event once.
#include "actors/publish/core_memory.h"
#include "actors/publish/reader/event_stream.h"
#include "actors/publish/reader/feed_reader.h"
#include "actors/publish/reader/series_reader.h"
#include "tests/actors/events.h"
#include "tests/actors/publish/quote_writer.h"
#include "tests/actors/publish/reader/feed_image.h"
#include "tests/actors/weave.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <map>
#include <memory>
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

const feed::SeriesKey spy = test_events::series_of("SPY");

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
    const auto key_at = [](std::int64_t strike) { return test_events::series_of("QQQ", strike); };
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

/// What a user of a stream has: for each series the number of its latest quote.
class StreamUser {
  public:
    StreamUser() = default;

    explicit StreamUser(const FeedImage& feed) : attached_(feed.attach()) {}

    void subscribe() {
        stream_ = std::make_unique<reader::EventStream>(std::move(attached_), reader::Filter{});
        take_state();
    }

    /// Takes all that has come.
    void poll(const std::string& trace) {
        for (std::size_t count = 1; count != 0;) {
            count = stream_->poll(records_);
            for (const pinstrike_record& record : std::span{records_}.first(count)) {
                take(record, trace);
            }
        }
    }

    [[nodiscard]] std::uint32_t latest(std::int64_t strike_e8) const {
        const auto found = latest_.find(strike_e8);
        return found == latest_.end() ? 0 : found->second;
    }

    std::size_t missed = 0;
    std::size_t events = 0;

  private:
    void take_state() {
        for (const pinstrike_value& value : stream_->snapshot()) {
            ASSERT_EQ(value.old, PINSTRIKE_CURRENT);
            latest_[value.key.strike_e8] = value.quotes;
        }
    }

    void take(const pinstrike_record& record, const std::string& trace) {
        if (record.kind == PINSTRIKE_MISSED || record.kind == PINSTRIKE_STATE) {
            missed += record.kind == PINSTRIKE_MISSED ? 1 : 0;
            return take_state();
        }
        if (record.kind == PINSTRIKE_CONTROL) {
            return;
        }
        ASSERT_EQ(record.kind, PINSTRIKE_QUOTE) << trace;
        std::uint32_t& latest = latest_[record.key.strike_e8];
        EXPECT_EQ(record.sequence, latest + 1) << trace;
        EXPECT_EQ(record.of.quote.offer_size, record.sequence) << trace;
        EXPECT_EQ(record.bid.sequence, record.sequence) << trace;
        latest = static_cast<std::uint32_t>(record.sequence);
        ++events;
    }

    std::unique_ptr<reader::FeedReader> attached_;  ///< until it subscribes
    std::unique_ptr<reader::EventStream> stream_;
    std::map<std::int64_t, std::uint32_t> latest_;
    std::array<pinstrike_record, 8> records_{};
};

class WeaveStream : public ::testing::Test {
  protected:
    /// Walks the orders of a writer and of a user who subscribes and takes what has come. After
    /// each of them he has all quotes up to `last`.
    std::size_t walk(std::size_t stream_records, std::size_t preemptions_max,
                     const std::function<void(QuoteWriter&)>& write,
                     const std::vector<std::pair<feed::SeriesKey, std::uint32_t>>& last) {
        return weaver_.walk(
            [&, stream_records] {
                feed_ = std::make_unique<FeedImage>(
                    CoreShape{.series = 40, .slots = 64, .stream_records = stream_records});
                writer_ = std::make_unique<QuoteWriter>(feed_->memory());
                writer_->insert(spy);
                writer_->quote(spy, 1);
                user_ = StreamUser{*feed_};
                return std::vector<Weaver::Body>{[&] { write(*writer_); },
                                                 [&] {
                                                     user_.subscribe();
                                                     user_.poll(weaver_.trace());
                                                 }};
            },
            [&] {
                user_.poll(weaver_.trace());
                missed += user_.missed;
                events += user_.events;
                for (const auto& [key, number] : last) {
                    EXPECT_EQ(user_.latest(key.strike_e8), number) << weaver_.trace();
                }
            },
            fail_on_stuck, preemptions_max);
    }

    std::size_t missed = 0;
    std::size_t events = 0;

  private:
    Weaver weaver_;
    std::unique_ptr<FeedImage> feed_;
    std::unique_ptr<QuoteWriter> writer_;
    StreamUser user_;
};

TEST_F(WeaveStream, has_each_event_that_its_snapshot_has_not) {
    const std::size_t orders = walk(8, 3,
                                    [](QuoteWriter& writer) {
                                        writer.quote(spy, 2);
                                        writer.quote(spy, 3);
                                    },
                                    {{spy, 3}});
    EXPECT_GT(orders, 1000U);
    EXPECT_GT(events, 100U);
}

TEST_F(WeaveStream, has_series_that_come_while_it_begins) {
    const feed::SeriesKey other = test_events::series_of("QQQ", 7);
    const std::size_t orders = walk(8, 3,
                                    [&](QuoteWriter& writer) {
                                        writer.insert(other);
                                        writer.quote(other, 1);
                                        writer.flush();
                                        writer.quote(spy, 2);
                                    },
                                    {{spy, 2}, {other, 1}});
    EXPECT_GT(orders, 1000U);
    EXPECT_GT(events, 1000U);
}

TEST_F(WeaveStream, knows_that_it_was_overrun_and_goes_on) {
    const std::size_t orders = walk(2, 2,
                                    [](QuoteWriter& writer) {
                                        for (std::uint32_t number = 2; number <= 5; ++number) {
                                            writer.quote(spy, number);
                                        }
                                    },
                                    {{spy, 5}});
    EXPECT_GT(orders, 500U);
    EXPECT_GT(missed, 100U);
}

}  // namespace
}  // namespace pinstrike::actors::test
