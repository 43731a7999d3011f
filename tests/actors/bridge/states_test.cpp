// path: cold
//
// The state that a joining host receives: of several cores, beside writes of the feed, when it is
// broken off, and what of it is refused; ids of later series.
#include "actors/book/book_messages.h"
#include "actors/publish/reader/mapping.h"
#include "tests/actors/bridge/bridge_scene.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <optional>

namespace pinstrike::actors::bridge::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

class BridgeStates : public BridgeSessions {
  protected:
    static feed::SeriesKey series(unsigned strike) {
        return key_of("SPX", 'A', 16, 27, std::int64_t{strike} * 100'000'000);
    }

    /// Quotes of the series `first` to `last` on the core's own line.
    void quote_series(PublishedFeed& feed, std::size_t core, unsigned first, unsigned last) {
        numbers_.resize(feed.books.size());
        Events events;
        for (unsigned i = first; i <= last; ++i) {
            events.quote(series(i), static_cast<std::uint16_t>(20 + core), ++numbers_[core]);
        }
        give(feed, events, core);
    }

    /// Applies events as a book does in the middle of a batch, which is not published yet.
    static std::vector<feed::Event> begin_batch(PublishedFeed& feed, Events& events) {
        events.stamp(Day::start_ns);
        BookEntries& entries = feed.books[0]->entries();
        std::vector<feed::Event> records{events.batch().records().begin(),
                                         events.batch().records().end()};
        for (const feed::Event& event : EventBatch{records}) {
            entries.clock.next(event.header.ts_receive_ns);
            apply_message(entries, event);
        }
        return records;
    }

    static void end_batch(PublishedFeed& feed, const std::vector<feed::Event>& records) {
        BookEntries& entries = feed.books[0]->entries();
        entries.store.stream.append(records, entries.clock);
    }

    static pinstrike_line line_of(const std::string& name, std::size_t line) {
        return reader::Mapping::open(name)->cores()[0].lines[line];
    }

    /// Gives the joiner a frame of core 0 while it receives a state.
    void give_frame(FrameType type, std::uint64_t stamp, const Events* events = nullptr) {
        FrameHeader header;
        header.type = type;
        header.stamp = stamp;
        FrameWriter writer;
        if (events != nullptr) {
            header.count = static_cast<std::uint32_t>(events->size());
            ASSERT_TRUE(writer.put(header, std::as_bytes(events->batch().records())));
        } else {
            ASSERT_TRUE(writer.put(header));
        }
        std::memcpy(joiner->space().data(), writer.waiting().data(), writer.waiting().size());
        joiner->receive(writer.waiting().size(), now_ns);
    }

  private:
    std::vector<std::uint32_t> numbers_;  ///< by core: the last number of its line
};

/// The small core is complete long before the large one, and each has events in every step.
TEST_F(BridgeStates, CoresOfUnequalSizeGoOnTogether) {
    PublishedFeed feed{2, 1 << 16, false, 8192};
    quote_series(feed, 0, 1, 1);
    quote_series(feed, 1, 1, 5000);
    connect();
    for (unsigned i = 0; i < 5000 && !joiner->is_live(); ++i) {
        quote_series(feed, 0, 1, 1);
        quote_series(feed, 1, i % 5000 + 1, i % 5000 + 1);
        step(20'000);
        ASSERT_EQ(joiner->end(), Joiner::End::none) << joiner->why();
    }
    ASSERT_TRUE(joiner->is_live());
    EXPECT_TRUE(session->is_current());
    quote_series(feed, 0, 1, 1);
    quote_series(feed, 1, 1, 1);
    settle_at_once();
    EXPECT_TRUE(are_equal(true));
    EXPECT_EQ(joined(JoinCount::states), 1U);
    EXPECT_EQ(joined(JoinCount::malformed), 0U);
    EXPECT_EQ(joined(JoinCount::missed), 0U);
    EXPECT_TRUE(joiner->carried().balances());
}

/// The other core needs thousands of events to catch up.
TEST_F(BridgeStates, ACoreThatIsBehindHoldsNoOtherCoreBack) {
    PublishedFeed feed{2, 1 << 16, false, 8192};
    quote_series(feed, 0, 1, 1);
    quote_series(feed, 1, 1, 500);
    connect();
    step(256);
    for (unsigned i = 0; i < 20; ++i) {
        quote_series(feed, 1, 1, 500);
    }
    settle_at_once();
    EXPECT_TRUE(joiner->is_live());
    EXPECT_EQ(joined(JoinCount::malformed), 0U);
    EXPECT_TRUE(are_equal(true));
}

/// A series may have an event that its core has applied and not yet published.
TEST_F(BridgeStates, AnEventThatIsPublishedLaterCountsOnce) {
    PublishedFeed feed;
    quote(feed, 1);
    Events events;
    events.quote(key_of("AAPL"), 9, 2);
    events.trade(key_of("AAPL"), 9, 3, 'I', 100, 7);
    const auto records = begin_batch(feed, events);
    connect();
    settle();
    EXPECT_FALSE(joiner->is_live()) << "the state is of a later time than the events";
    end_batch(feed, records);
    settle();
    ASSERT_TRUE(joiner->is_live());
    EXPECT_TRUE(are_equal(true));
    EXPECT_EQ(joined(JoinCount::included), 2U);
}

TEST_F(BridgeStates, AGapThatIsPublishedLaterCountsOnce) {
    PublishedFeed feed;
    quote(feed, 1);
    Events events;
    events.gap(9, 2, 4);
    const auto records = begin_batch(feed, events);
    connect();
    settle();
    EXPECT_FALSE(joiner->is_live());
    end_batch(feed, records);
    settle();
    ASSERT_TRUE(joiner->is_live());
    EXPECT_EQ(line_of("test", 9).missing, 3U);
    EXPECT_EQ(line_of("copy", 9).missing, 3U);
    EXPECT_TRUE(are_equal(true));
}

TEST_F(BridgeStates, NoLineIsLeftOutBecauseItIsBeingWritten) {
    PublishedFeed feed;
    quote(feed, 1);
    Events events;
    events.gap(9, 2, 4);
    give(feed, events);
    std::uint64_t& version = feed.books[0]->entries().store.lines[9].version;
    ++version;
    connect();
    settle();
    EXPECT_FALSE(joiner->is_live());
    EXPECT_THAT(session->obstacle(), HasSubstr("in the middle of a write"));
    ++version;
    settle();
    ASSERT_TRUE(joiner->is_live());
    EXPECT_TRUE(are_equal(true)) << "the sides are stale on both hosts";
}

/// The core's thread may lose its processor there. The state goes on when it has written.
TEST_F(BridgeStates, ASeriesThatIsBeingWrittenDelaysTheState) {
    PublishedFeed feed;
    quote(feed, 1);
    BookStore& store = feed.books[0]->entries().store;
    std::uint32_t& version = store.table.group_of(*store.table.find(key_of("AAPL"))).version;
    ++version;
    connect();
    settle_at_once();
    EXPECT_FALSE(joiner->is_live());
    EXPECT_EQ(session->obstacle(), "");
    ++version;
    settle_at_once();
    ASSERT_TRUE(joiner->is_live());
    EXPECT_EQ(served(ServeCount::states), 1U);
    EXPECT_FALSE(noted.has(BridgeNote::feed));
    EXPECT_TRUE(are_equal(true));
}

/// The next state waits as the first one does, and what was missed is counted.
TEST_F(BridgeStates, AnotherStateWaitsForTheWriterToo) {
    PublishedFeed feed{1, 1024};
    quote(feed, 1);
    connect();
    settle();
    for (std::uint32_t number = 2; number <= 3000; ++number) {
        quote(feed, number);
    }
    std::uint64_t& version = feed.books[0]->entries().store.lines[9].version;
    version += version == 0 ? 3 : 1;
    now_ns += 1000 * ms_ns;
    settle();
    EXPECT_EQ(joined(JoinCount::states), 1U);
    EXPECT_EQ(session->obstacle(), "");
    ++version;
    settle();
    EXPECT_EQ(joined(JoinCount::states), 2U);
    EXPECT_EQ(served(ServeCount::missed), 2999U);
    EXPECT_TRUE(are_equal());
}

TEST_F(BridgeStates, AStateThatIsBrokenOffLeavesTheLastOne) {
    PublishedFeed feed{1, 4096, false, 512};
    const auto break_off = [&] {
        connect();
        for (unsigned i = 0; i < 4; ++i) {
            step(1500);
        }
        EXPECT_FALSE(joiner->is_live());
        EXPECT_GT(joiner->carried().cores_count(), 0U);
        disconnect();
    };
    quote_series(feed, 0, 1, 200);
    break_off();
    EXPECT_THROW(client::feed{"copy"}, client::error) << "no state was complete yet";
    connect();
    settle();
    disconnect();
    client::feed copy{"copy"};
    ASSERT_EQ(copy.chain().size(), 200U);
    break_off();
    EXPECT_EQ(copy.chain().size(), 200U);
    client::feed later{"copy"};
    EXPECT_EQ(later.chain().size(), 200U);
    EXPECT_EQ(later.condition(), PINSTRIKE_FEED_ENDED);
    connect();
    settle();
    EXPECT_EQ(copy.chain().size(), 200U);
    EXPECT_TRUE(is_live_to_readers(copy));
}

/// Without room for both, the last state goes first.
TEST_F(BridgeStates, AnotherStateNeedsNoRoomBesideTheLastOne) {
    if (::mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=1g") != 0) {
        GTEST_SKIP() << "this user cannot mount a file system";
    }
    ASSERT_EQ(::chmod(folder.path().c_str(), S_IRWXU), 0);
    {
        PublishedFeed feed;
        quote(feed, 1);
        connect();
        settle();
        EXPECT_TRUE(joiner->is_live());
        const std::string size = "size=" + std::to_string(feed.file->bytes() * 5 / 2);
        EXPECT_EQ(::mount("tmpfs", folder.path().c_str(), "tmpfs", MS_REMOUNT, size.c_str()), 0);
        disconnect();
        connect();
        settle();
        EXPECT_TRUE(joiner->is_live()) << joiner->why();
        EXPECT_TRUE(are_equal());
        joiner.reset();
    }
    ::umount2(folder.path().c_str(), MNT_DETACH);
}

TEST_F(BridgeStates, AStateThatHasNoRoomIsRefusedUntilItHas) {
    if (::mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=1g") != 0) {
        GTEST_SKIP() << "this user cannot mount a file system";
    }
    ASSERT_EQ(::chmod(folder.path().c_str(), S_IRWXU), 0);
    {
        PublishedFeed feed;
        quote(feed, 1);
        const std::string size = "size=" + std::to_string(feed.file->bytes() * 3 / 2);
        EXPECT_EQ(::mount("tmpfs", folder.path().c_str(), "tmpfs", MS_REMOUNT, size.c_str()), 0);
        connect();
        settle_at_once();
        EXPECT_EQ(joiner->end(), Joiner::End::refused);
        EXPECT_THAT(joiner->why(), HasSubstr("cannot allocate"));
        disconnect();
        EXPECT_EQ(::mount("tmpfs", folder.path().c_str(), "tmpfs", MS_REMOUNT, "size=1g"), 0);
        connect();
        settle_at_once();
        EXPECT_TRUE(joiner->is_live()) << joiner->why();
        EXPECT_TRUE(are_equal());
        joiner.reset();
    }
    ::umount2(folder.path().c_str(), MNT_DETACH);
}

TEST_F(BridgeStates, TheLogStatesTheSeriesOfThatState) {
    PublishedFeed feed;
    quote(feed, 1);
    for (unsigned i = 0; i < 2; ++i) {
        connect();
        settle();
        disconnect();
    }
    EXPECT_THAT(noted.of(BridgeNote::state),
                ElementsAre(HasSubstr(": 1 series in"), HasSubstr(": 1 series in")));
}

/// The reason is that a writing mark in an entry would make it unreadable for ever.
TEST_F(BridgeStates, AStampThatNoClockHasEndsTheConnection) {
    PublishedFeed feed;
    quote(feed, 1);
    Events events;
    events.quote(key_of("AAPL"), 9, 2);
    for (const FrameType type : {FrameType::event_at, FrameType::ready}) {
        joiner = std::make_unique<Joiner>(JoinConfig{.name = "copy"}, joins, noted.taker());
        connect();
        while (joiner->carried().cores_count() == 0) {
            step(unit_bytes);  // so that the frame comes behind a whole one
        }
        give_frame(type, PINSTRIKE_STAMP_WRITING, type == FrameType::ready ? nullptr : &events);
        EXPECT_EQ(joiner->end(), Joiner::End::down);
        EXPECT_THAT(joiner->why(),
                    HasSubstr(type == FrameType::ready ? "a clock that" : "a malformed event"));
        disconnect();
    }
    EXPECT_EQ(joined(JoinCount::malformed), 2U);
}

/// The feed takes such series as the venue sends them.
TEST_F(BridgeStates, SeriesWithUnusualNamesAreCarried) {
    PublishedFeed feed;
    Events events;
    const auto add = [&](std::uint32_t number) {
        events.quote(key_of(" AB"), 9, number, {.participant = '\x02'});
        events.quote(key_of("A\x01"), 9, number + 1);
        events.quote(key_of("SPX", 'A', 16, 27, -100'000'000), 9, number + 2);
        give(feed, events);
    };
    add(1);
    connect();
    settle();
    add(4);
    settle();
    EXPECT_EQ(joined(JoinCount::malformed), 0U);
    EXPECT_TRUE(are_equal(true));
    EXPECT_EQ(books_of("copy").size(), 3U);
}

/// The numbers alone would say that the line went on.
TEST_F(BridgeStates, ANumberingThatBeganAnewIsKnownByTheStateOfTheLine) {
    PublishedFeed feed;
    quote(feed, 20);
    connect();
    settle();
    quote(feed, 21);
    settle();
    client::feed copy{"copy"};
    client::stream stream = copy.subscribe();
    disconnect();
    Events events;
    events.control(9, 0, feed::Forget::day);
    give(feed, events);
    for (std::uint32_t number = 1; number <= 30; ++number) {
        quote(feed, number);
    }
    connect();
    settle_at_once();
    std::vector<pinstrike_record> records = events_of(stream);  // attaches to the new memory
    quote(feed, 31);
    settle();
    const auto later = events_of(stream);
    records.insert(records.end(), later.begin(), later.end());
    std::vector<std::pair<std::uint64_t, std::uint64_t>> gaps;
    for (const pinstrike_record& record : records) {
        if (record.kind == PINSTRIKE_GAP) {
            gaps.emplace_back(record.of.gap.first, record.of.gap.last);
        }
    }
    EXPECT_THAT(gaps, ElementsAre(Pair(1, 30)));
}

/// Also beside many series that were there before.
TEST_F(BridgeStates, TheIdOfALaterSeriesComesAtOnce) {
    constexpr unsigned many = 60'000;
    PublishedFeed feed{1, 1 << 16, false, 100'000};
    quote_series(feed, 0, 1, many);
    while (reader::Mapping::open("test")->cores()[0].series[many].id == 0) {
        feed.file->give_ids();
    }
    connect();
    settle_at_once();
    ASSERT_TRUE(joiner->is_live());
    client::feed copy{"copy"};
    client::feed test{"test"};
    for (unsigned i = 1; i <= 3; ++i) {
        quote_series(feed, 0, many + i, many + i);
        for (unsigned steps = 0; steps < 120; ++steps) {  // 12 ms
            step();
        }
        const auto id = reader::Mapping::open("copy")->cores()[0].series[many + i].id;
        EXPECT_EQ(id, many + i);
    }
}

/// On a long way the answer comes much later.
TEST_F(BridgeStates, AnIdIsNotAskedForAgainAtOnce) {
    PublishedFeed feed;
    quote(feed, 1);
    connect();
    settle();
    quote_series(feed, 0, 1, 1);
    for (unsigned i = 0; i < 60 && joiner->output().empty(); ++i) {
        now_ns += ms_ns / 10;
        session->produce(now_ns);
        const auto bytes = session->output();
        std::memcpy(joiner->space().data(), bytes.data(), bytes.size());
        joiner->receive(bytes.size(), now_ns);
        session->sent(bytes.size());
        joiner->step(now_ns);
    }
    const std::size_t asked = joiner->output().size();
    EXPECT_EQ(asked, 2 * unit_bytes);
    for (unsigned i = 0; i < 200; ++i) {
        joiner->step(now_ns += ms_ns);
    }
    EXPECT_EQ(joiner->output().size(), asked);
    for (unsigned i = 0; i < 400; ++i) {
        joiner->step(now_ns += ms_ns);
    }
    EXPECT_GE(joiner->output().size(), asked + 2 * unit_bytes) << "an answer may be lost";
}

}  // namespace
}  // namespace pinstrike::actors::bridge::test
