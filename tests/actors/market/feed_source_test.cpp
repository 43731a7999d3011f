// path: cold
//
// What a process beside a feed reads of it.
#include "actors/market/feed_source.h"

#include "config/time_units.h"
#include "tests/actors/publish/published.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace pinstrike::actors::test {
namespace {

using actors::test::Events;
using actors::test::key_of;
using actors::test::PublishedFeed;
using actors::test::PublishFolder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Writes down what comes.
class Written final : public FeedEvents {
  public:
    void on_state(std::span<const pinstrike_value> values, StatePart part) override {
        what.push_back(std::string{part.is_fresh ? "fresh " : "anew "} +
                       std::to_string(values.size()) + (part.is_complete ? "" : ", more follow"));
    }

    void on_dropped() override { ++dropped; }

    void on_event(const pinstrike_record& record) override {
        what.push_back("event " + std::to_string(record.sequence) + " of " +
                       std::to_string(record.key.id));
    }

    void on_batch(std::int64_t received_ns) override {
        ++batches;
        batch_ns = received_ns;
    }

    void on_missed(std::uint64_t records) override { missed += records; }

    void on_lost(const std::string& why) override { what.push_back("lost: " + why); }

    std::vector<std::string> take() { return std::exchange(what, {}); }

    std::vector<std::string> what;
    std::uint64_t missed = 0;
    unsigned batches = 0;
    std::int64_t batch_ns = 0;
    unsigned dropped = 0;
};

class FeedSourceTest : public testing::Test {
  protected:
    void quote(PublishedFeed& feed, std::uint32_t sequence, const std::string& root = "SPY") {
        Events quotes;
        quotes.quote(key_of(root), 1, sequence);
        quotes.stamp(now_ns += 2 * second_ns);
        quotes.play(*feed.books[0]);
    }

    std::vector<std::string> poll(std::int64_t later_ns = second_ns) {
        source.poll(now_ns += later_ns);
        return events.take();
    }

    /// Polls until something comes, for at most some seconds: a stream looks for another start
    /// every 20 ms of the real time.
    std::vector<std::string> poll_for_some() {
        std::vector<std::string> what;
        for (int i = 0; i < 2000 && what.empty(); ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds{2});
            what = poll();
        }
        return what;
    }

    const PublishFolder folder;
    Written events;
    FeedSource source{"test", {}, events};
    std::int64_t now_ns = 1'795'000'000 * second_ns;
};

TEST_F(FeedSourceTest, a_feed_that_is_not_there_is_lost_and_found_later) {
    EXPECT_THAT(poll(), ElementsAre(HasSubstr("lost: ")));
    EXPECT_THAT(poll(), IsEmpty());  // once
    EXPECT_FALSE(source.is_live());
    PublishedFeed published;
    quote(published, 1);
    published.file->give_ids();
    EXPECT_THAT(poll(), ElementsAre("fresh 1"));
    EXPECT_TRUE(source.is_live());
    EXPECT_EQ(events.batches, 0U);
    quote(published, 2);
    EXPECT_THAT(poll(), ElementsAre("event 2 of 1"));
    EXPECT_EQ(events.batches, 1U);
}

TEST_F(FeedSourceTest, events_of_a_series_without_an_id_wait_for_it_in_their_order) {
    PublishedFeed published;
    EXPECT_THAT(poll(), ElementsAre("fresh 0"));
    quote(published, 1);
    quote(published, 2);
    EXPECT_THAT(poll(), IsEmpty());
    EXPECT_EQ(source.waiting(), 2U);
    published.file->give_ids();
    quote(published, 3);
    EXPECT_THAT(poll(), ElementsAre("event 1 of 1", "event 2 of 1", "event 3 of 1"));
    EXPECT_EQ(source.waiting(), 0U);
    EXPECT_EQ(events.dropped, 0U);
    quote(published, 4);
    EXPECT_THAT(poll(), ElementsAre("event 4 of 1"));
}

TEST_F(FeedSourceTest, events_that_have_waited_keep_their_time_of_receipt) {
    PublishedFeed published;
    EXPECT_THAT(poll(), ElementsAre("fresh 0"));
    quote(published, 1);
    const std::int64_t received_ns = now_ns;
    quote(published, 2);
    EXPECT_THAT(poll(), IsEmpty());
    events.batch_ns = 0;
    published.file->give_ids();
    EXPECT_THAT(poll(), ElementsAre("event 1 of 1", "event 2 of 1"));
    EXPECT_EQ(events.batch_ns, received_ns);
}

TEST_F(FeedSourceTest, an_announcement_waits_for_the_id_of_its_series) {
    PublishedFeed published;
    EXPECT_THAT(poll(), ElementsAre("fresh 0"));
    Events map;
    map.series_map(key_of("SPY"), 1, 1);
    map.play(*published.books[0]);
    EXPECT_THAT(poll(), IsEmpty());
    published.file->give_ids();
    EXPECT_THAT(poll(), ElementsAre("event 1 of 1"));
    EXPECT_EQ(source.waiting(), 0U);
}

TEST_F(FeedSourceTest, events_of_a_series_that_gets_no_id_wait_for_seconds_only) {
    PublishedFeed published;
    EXPECT_THAT(poll(), ElementsAre("fresh 0"));
    Events unheard;
    unheard.end_of_day(key_of("SPY"), 1, 1);  // a book keeps no series for it
    unheard.play(*published.books[0]);
    EXPECT_THAT(poll(), IsEmpty());
    published.file->give_ids();
    EXPECT_THAT(poll(), IsEmpty());
    EXPECT_EQ(source.waiting(), 1U);
    EXPECT_EQ(events.dropped, 0U);
    EXPECT_THAT(poll(5 * second_ns), IsEmpty());
    EXPECT_EQ(source.waiting(), 0U);
    EXPECT_EQ(events.dropped, 1U);
}

TEST_F(FeedSourceTest, events_that_wait_at_a_restart_are_counted_as_dropped) {
    auto published = std::make_unique<PublishedFeed>();
    EXPECT_THAT(poll(), ElementsAre("fresh 0"));
    Events unheard;
    unheard.end_of_day(key_of("SPY"), 1, 1);
    unheard.play(*published->books[0]);
    EXPECT_THAT(poll(), IsEmpty());
    published.reset();
    const PublishedFeed next;
    EXPECT_THAT(poll_for_some(), ElementsAre("fresh 0"));
    EXPECT_EQ(events.dropped, 1U);
    EXPECT_EQ(source.waiting(), 0U);
}

TEST_F(FeedSourceTest, records_that_were_overwritten_are_missed_and_the_state_is_read_anew) {
    PublishedFeed published{1, 256};
    quote(published, 1);
    published.file->give_ids();
    EXPECT_THAT(poll(), ElementsAre("fresh 1"));
    for (std::uint32_t i = 2; i < 1002; ++i) {
        quote(published, i);
    }
    const auto what = poll();
    ASSERT_FALSE(what.empty());
    EXPECT_EQ(what.back(), "anew 1");
    EXPECT_EQ(events.missed, 1000U);
    quote(published, 1002);
    EXPECT_THAT(poll(), ElementsAre("event 1002 of 1"));
}

TEST_F(FeedSourceTest, only_the_underlyings_of_the_config_are_read) {
    PublishedFeed published;
    FeedSource one{"test", {"QQQ"}, events};
    quote(published, 1, "SPY");
    quote(published, 2, "QQQ");
    published.file->give_ids();
    one.poll(now_ns += second_ns);
    EXPECT_THAT(events.take(), ElementsAre("fresh 1"));
    quote(published, 3, "SPY");
    quote(published, 4, "QQQ");
    one.poll(now_ns += second_ns);
    const auto what = events.take();
    ASSERT_EQ(what.size(), 1U);
    EXPECT_THAT(what[0], HasSubstr("event 4 of "));
}

TEST_F(FeedSourceTest, a_feed_that_ended_is_lost_until_it_starts_anew) {
    auto published = std::make_unique<PublishedFeed>();
    quote(*published, 1);
    published->file->give_ids();
    EXPECT_THAT(poll(), ElementsAre("fresh 1"));
    published.reset();
    EXPECT_THAT(poll(), IsEmpty());  // events might have come before the end
    EXPECT_THAT(poll(), ElementsAre("lost: the feed test is ended"));
    EXPECT_FALSE(source.is_live());
    EXPECT_THAT(poll(), IsEmpty());
    PublishedFeed next;
    quote(next, 2);
    next.file->give_ids();
    EXPECT_THAT(poll_for_some(), ElementsAre("fresh 1"));
    EXPECT_TRUE(source.is_live());
    quote(next, 3);
    EXPECT_THAT(poll(), ElementsAre("event 3 of 1"));
}

TEST_F(FeedSourceTest, the_end_of_a_feed_is_reported_after_its_last_event) {
    auto published = std::make_unique<PublishedFeed>();
    quote(*published, 1);
    published->file->give_ids();
    EXPECT_THAT(poll(), ElementsAre("fresh 1"));
    constexpr std::uint32_t more_than_two_batches = 2500;
    for (std::uint32_t i = 0; i < more_than_two_batches; ++i) {
        quote(*published, 2 + i);
    }
    published.reset();
    std::vector<std::string> what;
    while (what.empty() || what.back().starts_with("event")) {
        const std::vector<std::string> more = poll();
        what.insert(what.end(), more.begin(), more.end());
    }
    EXPECT_EQ(what.size(), more_than_two_batches + 1U);
    EXPECT_EQ(what.back(), "lost: the feed test is ended");
}

TEST_F(FeedSourceTest, each_end_of_a_feed_is_reported) {
    auto published = std::make_unique<PublishedFeed>();
    EXPECT_THAT(poll(), ElementsAre("fresh 0"));
    published.reset();
    EXPECT_THAT(poll(), IsEmpty());  // events might have come before the end
    EXPECT_THAT(poll(), ElementsAre("lost: the feed test is ended"));
    published = std::make_unique<PublishedFeed>();
    std::vector<std::string> what;
    for (int i = 0; i < 90 && what.empty(); ++i) {  // without a look at its condition
        std::this_thread::sleep_for(std::chrono::milliseconds{2});
        what = poll(1'000'000);
    }
    EXPECT_THAT(what, ElementsAre("fresh 0"));
    published.reset();
    EXPECT_THAT(poll(), IsEmpty());  // events might have come before the end
    EXPECT_THAT(poll(), ElementsAre("lost: the feed test is ended"));
}

TEST_F(FeedSourceTest, a_feed_that_starts_anew_at_once_is_not_reported_as_lost) {
    auto published = std::make_unique<PublishedFeed>();
    quote(*published, 1);
    published->file->give_ids();
    EXPECT_THAT(poll(), ElementsAre("fresh 1"));
    published.reset();
    PublishedFeed next;
    quote(next, 2);
    next.file->give_ids();
    EXPECT_THAT(poll_for_some(), ElementsAre("fresh 1"));
    EXPECT_THAT(poll(), IsEmpty());
    EXPECT_TRUE(source.is_live());
}

}  // namespace
}  // namespace pinstrike::actors::test
