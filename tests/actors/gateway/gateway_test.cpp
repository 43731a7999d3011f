// path: cold
//
// A gateway between a feed and a client, both in this process.
#include "actors/gateway/gateway.h"

#include "config/wall_time.h"
#include "tests/actors/gateway/live_client.h"
#include "tests/actors/publish/published.h"
#include "tests/config/problems.h"
#include "tests/nic/frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace pinstrike::actors::gateway::test {
namespace {

using actors::test::Events;
using actors::test::PublishedFeed;
using actors::test::PublishFolder;
using testing::Contains;
using testing::StartsWith;

class GatewayTest : public testing::Test {
  protected:
    void SetUp() override {
        std::ofstream{config.keys} << "keys: [{user: one, key: " << first_key << "}]\n";
        std::filesystem::permissions(config.keys, std::filesystem::perms{0600});
        gateway = std::make_unique<Gateway>(
            config, [](GatewayNote, const std::string&, const std::string&) {});
        Problems problems;
        ASSERT_TRUE(gateway->open(-1, problems)) << text_of(problems);
        sockaddr_in at{};
        socklen_t size = sizeof at;
        ASSERT_EQ(::getsockname(gateway->listener(), reinterpret_cast<sockaddr*>(&at), &size), 0);
        client = std::make_unique<LiveClient>(
            ntohs(at.sin_port), "schema=mbp-1|symbols=ALL_SYMBOLS|id=0\nstart_session=0\n");
        thread = std::thread{[this] { gateway->run(requests); }};
        ASSERT_TRUE(wait_for("system 1"));
    }

    void TearDown() override {
        client.reset();
        requests.stop = true;
        if (thread.joinable()) {
            thread.join();
        }
    }

    void quote(PublishedFeed& feed, const std::string& root) {
        quote_without_id(feed, root);
        feed.file->give_ids();
    }

    void quote_without_id(PublishedFeed& feed, const std::string& root) {
        Events quotes;
        quotes.quote(actors::test::key_of(root), 1, ++sequence);
        quotes.stamp(now_ns += 1000);
        quotes.play(*feed.books[0]);
    }

    /// Reads the client's records until `done`; false: it took too long.
    static bool wait(const std::function<bool()>& done) {
        const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{60};
        while (!done()) {
            if (std::chrono::steady_clock::now() > until) {
                return false;
            }
            std::this_thread::sleep_for(std::chrono::milliseconds{1});
        }
        return true;
    }

    bool wait_for(const std::string& text) {
        return wait([&] { return testing::Value(client->read(), Contains(StartsWith(text))); });
    }

    const PublishFolder folder;
    nic::ScratchDirectory scratch;
    GatewayConfig config{.feed = "test",
                         .address = "127.0.0.1:0",
                         .keys = scratch.file("keys"),
                         .underlyings = {},
                         .metrics_address = "",
                         .access_log = ""};
    std::unique_ptr<Gateway> gateway;
    Gateway::Requests requests;
    std::unique_ptr<LiveClient> client;
    std::thread thread;
    std::uint32_t sequence = 0;
    std::int64_t now_ns = 1'795'000'000'000'000'000;
};

TEST_F(GatewayTest, sessions_end_if_an_id_names_another_series) {
    auto feed = std::make_unique<PublishedFeed>(1, 4096, true);
    ASSERT_TRUE(wait([&] { return gateway->status().feed_live; }));
    quote(*feed, "SPY");
    ASSERT_TRUE(wait_for("mbp-1 1"));
    feed.reset();
    PublishedFeed next{1, 4096, true};
    quote(next, "QQQ");
    ASSERT_TRUE(wait_for("error 6: Internal error: the feed's list of series changed"));
    ASSERT_TRUE(wait([&] {
        client->read();
        return client->ended();
    }));
    EXPECT_EQ(gateway->clients().totals().endings.read(SessionEnding::feed), 0U);
    client.reset();
    EXPECT_TRUE(
        wait([&] { return gateway->clients().totals().endings.read(SessionEnding::feed) == 1; }));
}

TEST_F(GatewayTest, the_time_to_the_write_is_counted_but_not_that_of_a_replayed_day) {
    PublishedFeed feed{1, 4096};
    ASSERT_TRUE(wait([&] { return gateway->status().feed_live; }));
    quote(feed, "SPY");
    ASSERT_TRUE(wait_for("mbp-1 1"));
    const std::int64_t before_ns = wall_ns();
    now_ns = before_ns;
    quote(feed, "QQQ");
    ASSERT_TRUE(wait_for("mbp-1 2"));
    const auto writes = [&] { return gateway->clients().totals().writes.snapshot(); };
    ASSERT_TRUE(wait([&] { return writes().count != 0; }));
    EXPECT_LE(writes().count, 3U) << "the quote, the consolidated best, and the mapping";
    EXPECT_GT(writes().highest_ns, 0U);
    EXPECT_LE(writes().highest_ns, static_cast<std::uint64_t>(wall_ns() - before_ns));
}

TEST_F(GatewayTest, the_time_to_the_write_includes_the_wait_for_an_id) {
    PublishedFeed feed{1, 4096};
    ASSERT_TRUE(wait([&] { return gateway->status().feed_live; }));
    now_ns = wall_ns();
    quote_without_id(feed, "SPY");
    ASSERT_TRUE(wait([&] { return gateway->status().waiting_events == 1; }));
    const auto waited_ns = static_cast<std::uint64_t>(wall_ns() - now_ns);
    feed.file->give_ids();
    ASSERT_TRUE(wait_for("mbp-1 1"));
    EXPECT_GT(gateway->clients().totals().writes.snapshot().highest_ns, waited_ns);
}

TEST_F(GatewayTest, events_that_were_missed_are_told_and_present_values_follow) {
    PublishedFeed feed{1, 256};
    quote(feed, "SPY");
    ASSERT_TRUE(wait([&] { return gateway->status().feed_live; }));
    ASSERT_TRUE(wait([&] {
        for (int i = 0; i < 5000; ++i) {
            quote(feed, "SPY");
        }
        return gateway->counters().read(MarketCount::missed) > 0;
    }));
    ASSERT_TRUE(wait_for("error 7: Slow client detected for the gateway itself: it missed "));
    EXPECT_TRUE(wait_for("mbp-1 1, snapshot"));
}

}  // namespace
}  // namespace pinstrike::actors::gateway::test
