// path: cold
//
// Both sides of a bridge without sockets: state, events, gaps, filters, limits and ends.
#include "tests/actors/bridge/bridge_scene.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace pinstrike::actors::bridge::test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Pair;

TEST_F(BridgeSessions, TheCopyHasTheStateAndFollows) {
    PublishedFeed feed{2};
    trade(feed, 2000);
    connect();
    settle_at_once();
    ASSERT_TRUE(joiner->is_live());
    EXPECT_TRUE(are_equal(true)) << "to the stamp";
    for (unsigned i = 0; i < 20; ++i) {
        trade(feed, 100);
        settle_at_once();
    }
    EXPECT_TRUE(are_equal(true));
    EXPECT_EQ(joined(JoinCount::missed), 0U);
    EXPECT_EQ(joined(JoinCount::gaps), 0U);
    EXPECT_TRUE(joiner->carried().balances());
    EXPECT_EQ(joined(JoinCount::received), served(ServeCount::sent));
    client::feed copy{"copy"};
    EXPECT_EQ(copy.trade_date(), 20261127U);
    EXPECT_TRUE(is_live_to_readers(copy));
}

/// While the state is on its way, the feed goes on in every step.
TEST_F(BridgeSessions, EventsDuringTheStateCountOnce) {
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        day = Day{seed};
        PublishedFeed feed{2, 4096};
        trade(feed, 500);
        connect();
        for (unsigned i = 0; i < 400 && !joiner->is_live(); ++i) {
            trade(feed, 3);
            step(1000);
        }
        ASSERT_TRUE(joiner->is_live()) << seed;
        trade(feed, 50);
        settle_at_once();
        EXPECT_TRUE(are_equal(true)) << seed;
        EXPECT_TRUE(joiner->carried().balances());
        disconnect();
        joiner = std::make_unique<Joiner>(JoinConfig{.name = "copy"}, joins, noted.taker());
    }
    EXPECT_GT(joined(JoinCount::applied), 0U);
}

/// What a reader gets of an event, as text, by core.
std::vector<std::vector<std::string>> texts_of(const std::vector<pinstrike_record>& records) {
    std::vector<std::vector<std::string>> texts(2);
    for (const pinstrike_record& record : records) {
        std::string text = fmt::format("{} {} {} {} {} {}", record.kind, record.flags, record.line,
                                       record.sequence, record.stamp, record.receive_ns);
        if (record.has_key != 0) {
            text +=
                fmt::format(" {} {}{}", record.key.root, record.key.strike_e8, record.key.right);
        }
        if (record.kind == PINSTRIKE_QUOTE) {
            text += fmt::format(" {} {}", record.of.quote.bid, record.of.quote.offer_size);
        }
        texts.at(record.core).push_back(text);
    }
    return texts;
}

TEST_F(BridgeSessions, ReadersOnBothHostsGetTheSameEvents) {
    PublishedFeed feed{2};
    trade(feed, 1000);
    connect();
    settle_at_once();
    ASSERT_TRUE(joiner->is_live());
    client::feed test{"test"};
    client::feed copy{"copy"};
    client::filter all;
    all.line_events_of_each_core = true;
    client::stream there = test.subscribe(all);
    client::stream here = copy.subscribe(all);
    trade(feed, 500);
    settle_at_once();
    const auto sent = texts_of(events_of(there));
    EXPECT_GT(sent[0].size(), 100U);
    EXPECT_GT(sent[1].size(), 100U);
    EXPECT_EQ(texts_of(events_of(here)), sent);
}

TEST_F(BridgeSessions, NewSeriesGetTheIdsOfTheServingHost) {
    PublishedFeed feed;
    quote(feed, 1);
    connect();
    settle_at_once();
    trade(feed, 300);
    settle_at_once();
    client::feed test{"test"};
    client::feed copy{"copy"};
    std::size_t series = 0;
    for (const pinstrike_value& value : test.chain()) {
        EXPECT_NE(value.key.id, 0U);
        EXPECT_EQ(copy.id_of(value.key), value.key.id);
        ++series;
    }
    EXPECT_GT(series, 1U);
    EXPECT_GT(joined(JoinCount::ids), 0U);
}

TEST_F(BridgeSessions, WhatWasNotCarriedIsStated) {
    PublishedFeed feed;
    quote(feed, 10);
    connect();
    settle();
    quote(feed, 11);
    settle();
    client::feed copy{"copy"};
    client::stream stream = copy.subscribe();
    disconnect();
    EXPECT_EQ(copy.condition(), PINSTRIKE_FEED_ENDED);
    for (std::uint32_t number = 12; number < 20; ++number) {
        quote(feed, number);
    }
    connect();
    settle_at_once();
    ASSERT_TRUE(joiner->is_live());
    EXPECT_EQ(joiner->carried().open_lines(), 1U);
    quote(feed, 20);
    settle_at_once();  // the gap is published later than the first event after it
    std::vector<pinstrike_record> records = events_of(stream);
    settle();
    const auto later = events_of(stream);
    records.insert(records.end(), later.begin(), later.end());
    std::vector<std::pair<std::uint64_t, std::uint64_t>> gaps;
    bool is_down = false;
    bool restarted = false;
    for (const pinstrike_record& record : records) {
        if (record.kind == PINSTRIKE_GAP) {
            EXPECT_EQ(record.of.gap.cause, 4);
            EXPECT_EQ(record.line, 9);
            gaps.emplace_back(record.of.gap.first, record.of.gap.last);
        }
        restarted = restarted || record.kind == PINSTRIKE_RESTARTED;
        is_down = is_down || (!restarted && record.kind == PINSTRIKE_LINE_STATE &&
                              record.of.line_state.state == 3 && record.line == 9);
    }
    EXPECT_TRUE(is_down) << "readers learn that the line is down";
    EXPECT_TRUE(restarted);
    EXPECT_THAT(gaps, ::testing::ElementsAre(Pair(12, 19)));
    EXPECT_EQ(joined(JoinCount::gap_numbers), 8U);
    EXPECT_EQ(joined(JoinCount::missed), 8U);
    EXPECT_EQ(joiner->carried().open_lines(), 0U);
    EXPECT_TRUE(joiner->carried().balances());
    EXPECT_TRUE(are_equal()) << "nothing is stale";
    EXPECT_TRUE(noted.has(BridgeNote::state));
}

/// The venue's numbers do not wrap at 32 bits, and a line lost more of them than 2^31.
TEST_F(BridgeSessions, TheJoiningSideCountsAsTheVenue) {
    constexpr std::uint64_t first = std::uint64_t{1} << 33;
    constexpr std::uint64_t second = first + (std::uint64_t{3} << 30);
    PublishedFeed feed{1, 4096, false, PublishedFeed::config.series_capacity, feed::number_max};
    connect();
    settle();
    quote(feed, first);
    settle();
    disconnect();
    connect();
    settle();
    quote(feed, second);
    settle();
    ASSERT_TRUE(joiner->is_live()) << joiner->why();
    EXPECT_EQ(joined(JoinCount::gap_numbers), second - first - 1);
    joiner->carried().for_each_line([&](std::size_t, std::uint16_t, const LineNumbers::Line& line) {
        EXPECT_EQ(line.last, second);
        EXPECT_EQ(line.lost, second - first - 1);
    });
}

TEST_F(BridgeSessions, ASlowHostGetsAnotherStateAndTheFeedNeverWaits) {
    PublishedFeed feed{1, 1024};
    quote(feed, 1);
    connect();
    settle();
    quote(feed, 2);
    settle();
    for (std::uint32_t number = 3; number <= 5000; ++number) {
        quote(feed, number);  // nobody takes them
    }
    now_ns += 1000 * ms_ns;
    settle();
    quote(feed, 5001);
    settle();
    EXPECT_EQ(joined(JoinCount::states), 2U);
    EXPECT_EQ(served(ServeCount::missed), 4998U);
    EXPECT_EQ(joined(JoinCount::missed), 4998U);
    EXPECT_EQ(joined(JoinCount::gap_numbers), 4998U);
    EXPECT_TRUE(joiner->carried().balances());
    EXPECT_TRUE(are_equal());
}

TEST_F(BridgeSessions, NoMoreIsSentThanWasGranted) {
    PublishedFeed feed{1, 1 << 18};
    quote(feed, 1);
    connect();
    settle();
    quotes(feed, 2, 100'000);
    std::uint64_t sent = 0;
    for (unsigned i = 0; i < 200; ++i) {  // the other side takes nothing
        now_ns += ms_ns;
        session->produce(now_ns);
        const std::size_t bytes = session->output().size();
        session->sent(bytes);
        sent += bytes;
    }
    EXPECT_LE(sent, window_bytes + buffer_bytes);
    EXPECT_GT(sent, window_bytes / 2);
    EXPECT_LE(session->untaken(), window_bytes + buffer_bytes);
}

/// The sizes are such that events alone would fill the buffer but for 64 bytes.
TEST_F(BridgeSessions, TheLastFrameHasRoomBehindEvents) {
    PublishedFeed feed{1, 1 << 14};
    std::uint32_t number = 0;
    const auto publish = [&](unsigned count) {
        for (unsigned i = 0; i < count; ++i) {
            quote(feed, ++number);
        }
        for (unsigned i = 0; i < 10; ++i) {
            session->produce(now_ns);
        }
    };
    connect();
    settle();
    publish(239);
    publish(5000);
    EXPECT_GT(session->output().size(), buffer_bytes - 2 * body_bytes_max);
    session->leave("the serving side ended");
    EXPECT_TRUE(session->sent_last_frame());
}

TEST_F(BridgeSessions, AFilterLeavesOthersOut) {
    JoinConfig config{.name = "copy", .roots = {"AAPL"}};
    config.kinds = feed::line_event_bits | 1U << static_cast<unsigned>(feed::EventKind::quote);
    joiner = std::make_unique<Joiner>(config, joins, noted.taker());
    PublishedFeed feed;
    trade(feed, 500);
    quote(feed, 10);
    connect();
    settle();
    trade(feed, 500);
    quote(feed, 11);
    settle();
    client::feed copy{"copy"};
    const auto values = copy.chain();
    ASSERT_EQ(values.size(), 1U);
    EXPECT_STREQ(values.front().key.root, "AAPL");
    EXPECT_EQ(values.front().bid.state, PINSTRIKE_SIDE_FRESH);
    EXPECT_GT(served(ServeCount::filtered), 0U);
    EXPECT_EQ(joined(JoinCount::left_out), served(ServeCount::filtered));
    EXPECT_TRUE(joiner->carried().balances());
}

TEST_F(BridgeSessions, TradesAloneHaveNoSides) {
    JoinConfig config{.name = "copy"};
    config.kinds = feed::line_event_bits | 1U << static_cast<unsigned>(feed::EventKind::trade);
    joiner = std::make_unique<Joiner>(config, joins, noted.taker());
    PublishedFeed feed;
    trade(feed, 2000);
    connect();
    settle();
    trade(feed, 500);
    settle();
    client::feed test{"test"};
    client::feed copy{"copy"};
    std::size_t traded = 0;
    for (const pinstrike_value& value : copy.chain()) {
        pinstrike_value there{};
        ASSERT_EQ(test.get(value.key).has_value(), true);
        there = *test.get(value.key);
        EXPECT_EQ(value.bid.state, PINSTRIKE_SIDE_UNKNOWN);
        EXPECT_EQ(value.has_open_interest, 0);
        EXPECT_EQ(value.volume, there.volume);
        EXPECT_EQ(value.last.value, there.last.value);
        traded += value.trades;
    }
    EXPECT_GT(traded, 0U);
}

/// A late message must not replace what a newer one stated.
TEST_F(BridgeSessions, OpenInterestAloneKeepsItsPlace) {
    JoinConfig config{.name = "copy"};
    config.kinds = feed::line_event_bits | feed::bit_of(feed::EventKind::open_interest);
    joiner = std::make_unique<Joiner>(config, joins, noted.taker());
    PublishedFeed feed;
    Events events;
    events.trade(key_of("AAPL"), 9, 9, 'I', 100, 7);
    events.open_interest(key_of("AAPL"), 9, 10, 500);
    give(feed, events);
    connect();
    settle_at_once();
    events.open_interest(key_of("AAPL"), 9, 5, 400, feed::flag_late);
    give(feed, events);
    settle_at_once();
    client::feed test{"test"};
    client::feed copy{"copy"};
    const auto values = copy.chain();
    ASSERT_EQ(values.size(), 1U);
    EXPECT_EQ(test.chain().front().open_interest, 500U);
    EXPECT_EQ(values.front().open_interest, 500U);
    EXPECT_EQ(values.front().volume, 0U);
}

/// The host was too slow for the last events, and another state comes only after a second.
TEST_F(BridgeSessions, TheLastStateComesBeforeTheEndOfTheFeed) {
    auto feed = std::make_optional<PublishedFeed>(1, 1024);
    quote(*feed, 1);
    connect();
    settle();
    quotes(*feed, 2, 3000);
    feed.reset();
    for (unsigned i = 0; i < 5; ++i) {
        settle();
    }
    EXPECT_FALSE(joiner->is_live());
    EXPECT_EQ(joined(JoinCount::states), 2U);
    EXPECT_EQ(joined(JoinCount::missed), 2999U);
    client::feed copy{"copy"};
    const auto values = copy.chain();
    ASSERT_EQ(values.size(), 1U);
    EXPECT_EQ(values.front().quotes, 3000U);
    EXPECT_EQ(values.front().old, PINSTRIKE_OLD);
    EXPECT_TRUE(joiner->carried().balances());
}

/// Then no state can be read any more.
TEST_F(BridgeSessions, AFeedThatDiedInTheMiddleOfAWriteHasEnded) {
    auto feed = std::make_optional<PublishedFeed>(1, 1024);
    quote(*feed, 1);
    connect();
    settle();
    quotes(*feed, 2, 3000);
    std::uint64_t& version = feed->books[0]->entries().store.lines[9].version;
    version += version == 0 ? 3 : 1;
    feed.reset();
    for (unsigned i = 0; i < 5; ++i) {
        settle();
    }
    EXPECT_FALSE(joiner->is_live());
    EXPECT_EQ(joiner->end(), Joiner::End::none);
    EXPECT_EQ(joined(JoinCount::states), 1U);
}

TEST_F(BridgeSessions, ADamagedStreamEndsNoConnection) {
    PublishedFeed feed;
    quote(feed, 1);
    connect();
    settle();
    quote(feed, 2);
    const CoreMemory memory = feed.file->core(0);
    memory.span<feed::Event>(memory.core().stream)[1].header.records = 0;
    settle();
    EXPECT_THAT(noted.of(BridgeNote::feed), Contains(HasSubstr("damaged")));
    EXPECT_EQ(joiner->end(), Joiner::End::none) << joiner->why();
    EXPECT_EQ(joined(JoinCount::malformed), 0U);
    EXPECT_TRUE(joiner->is_live()) << "by another state";
    EXPECT_TRUE(are_equal());
}

TEST_F(BridgeSessions, TheFeedStartsAnew) {
    auto feed = std::make_optional<PublishedFeed>();
    quote(*feed, 10);
    connect();
    settle();
    client::feed copy{"copy"};
    feed.reset();
    settle();
    EXPECT_FALSE(joiner->is_live());
    EXPECT_EQ(copy.condition(), PINSTRIKE_FEED_ENDED);
    EXPECT_TRUE(noted.has(BridgeNote::feed));
    feed.emplace();
    quote(*feed, 100);
    settle();
    EXPECT_TRUE(joiner->is_live());
    EXPECT_TRUE(are_equal());
    EXPECT_EQ(joined(JoinCount::gaps), 0U) << "readers on the feed's host get none either";
    EXPECT_TRUE(joiner->carried().balances());
}

TEST_F(BridgeSessions, BothSidesAreToldWhyThereIsNoFeed) {
    connect();
    settle();
    EXPECT_THAT(session->obstacle(), HasSubstr("no feed \"test\" is published"));
    EXPECT_EQ(noted.of(BridgeNote::feed).size(), 1U) << "each reason once";
    EXPECT_THAT(noted.of(BridgeNote::feed).front(), HasSubstr("no feed \"test\" is published"));

    PublishedFeed feed;
    quote(feed, 1);
    const auto memory = std::filesystem::canonical(std::filesystem::path{folder.path()} / "test");
    std::filesystem::permissions(memory, std::filesystem::perms::others_write,
                                 std::filesystem::perm_options::add);
    settle();
    EXPECT_FALSE(joiner->is_live());
    EXPECT_THAT(session->obstacle(), HasSubstr("other users may write to it"));
    EXPECT_EQ(noted.of(BridgeNote::feed).size(), 2U);

    std::filesystem::permissions(memory, std::filesystem::perms::others_write,
                                 std::filesystem::perm_options::remove);
    settle();
    EXPECT_TRUE(joiner->is_live());
    EXPECT_EQ(session->obstacle(), "");
}

TEST_F(BridgeSessions, ASilentSideIsDown) {
    PublishedFeed feed;
    connect();
    settle();
    EXPECT_EQ(session->end(), ServeSession::End::none) << "both sides say that they are there";
    EXPECT_EQ(joiner->end(), Joiner::End::none);
    now_ns += silent_after_ns + ms_ns;
    session->produce(now_ns);
    joiner->step(now_ns);
    EXPECT_EQ(session->end(), ServeSession::End::down);
    EXPECT_THAT(session->why(), HasSubstr("silent"));
    EXPECT_EQ(joiner->end(), Joiner::End::down);
    EXPECT_EQ(joined(JoinCount::downs), 1U);
}

TEST_F(BridgeSessions, EachSideCanEndAsAgreed) {
    PublishedFeed feed;
    connect();
    settle();
    session->leave("the serving side ended");
    step();
    EXPECT_EQ(joiner->end(), Joiner::End::left);
    EXPECT_EQ(joiner->why(), "the serving side ended");
    joiner->disconnect();
    connect();
    settle();
    joiner->leave("the joining side ended");
    for (unsigned i = 0; i < 3; ++i) {
        step();
    }
    EXPECT_EQ(session->end(), ServeSession::End::left);
    joiner.reset();
    EXPECT_THROW(client::feed{"copy"}, client::error) << "its memory is removed";
}

TEST_F(BridgeSessions, AFeedThatNeedsTooMuchMemoryIsRefused) {
    joiner = std::make_unique<Joiner>(JoinConfig{.name = "copy", .memory_max_bytes = 1 << 20},
                                      joins, noted.taker());
    PublishedFeed feed;
    connect();
    settle_at_once();
    EXPECT_EQ(joiner->end(), Joiner::End::refused);
    EXPECT_THAT(joiner->why(), HasSubstr("memory_max"));
}

TEST_F(BridgeSessions, AStrangerIsRefused) {
    session = std::make_unique<ServeSession>("test", serves);
    const std::string bytes =
        "GET /metrics HTTP/1.1\r\nHost: localhost\r\nUser-Agent: curl/7.88.1\r\n\r\n";
    std::memcpy(session->space().data(), bytes.data(), bytes.size());
    session->receive(bytes.size(), now_ns);
    EXPECT_EQ(session->end(), ServeSession::End::refused);
    EXPECT_THAT(session->why(), HasSubstr("not a frame"));
}

TEST_F(BridgeSessions, EventsThatDoNotFollowEndTheConnection) {
    PublishedFeed feed;
    quote(feed, 1);
    connect();
    settle();
    Events events;
    events.quote(key_of("AAPL"), 9, 2);
    FrameWriter writer;
    FrameHeader header;
    header.type = FrameType::events;
    header.count = 1;
    header.position = 12;  // the stream is at 1
    ASSERT_TRUE(writer.put(header, std::as_bytes(events.batch().records())));
    std::memcpy(joiner->space().data(), writer.waiting().data(), writer.waiting().size());
    joiner->receive(writer.waiting().size(), now_ns);
    EXPECT_EQ(joiner->end(), Joiner::End::down);
    EXPECT_THAT(joiner->why(), HasSubstr("does not follow"));
    EXPECT_EQ(joined(JoinCount::malformed), 1U);
}

}  // namespace
}  // namespace pinstrike::actors::bridge::test
