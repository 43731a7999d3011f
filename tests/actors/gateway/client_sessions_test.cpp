// path: cold
//
// The clients of a gateway over the loopback interface, at the times of the test.
#include "actors/gateway/client_sessions.h"

#include "config/time_units.h"
#include "tests/actors/gateway/live_client.h"
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
#include <vector>

namespace pinstrike::actors::gateway::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

const std::string follow_trades = "schema=trades|symbols=ALL_SYMBOLS|id=0\nstart_session=0\n";

class ClientSessionsTest : public testing::Test {
  protected:
    void SetUp() override {
        write_keys("keys: [{user: one, key: " + std::string{first_key} + "}]\n");
        Problems problems;
        ASSERT_TRUE(sessions.open(-1, problems)) << text_of(problems);
    }

    void write_keys(const std::string& text) const {
        std::ofstream{config.keys} << text;
        std::filesystem::permissions(config.keys, std::filesystem::perms{0600});
    }

    /// Serves until `done`; false: it took too long.
    bool serve(const std::function<bool()>& done) { return serve(sessions, done); }

    bool serve(ClientSessions& served, const std::function<bool()>& done) const {
        const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{60};
        while (!done()) {
            if (std::chrono::steady_clock::now() > until) {
                return false;
            }
            if (served.step(now_ns) == 0) {
                served.server().wait(1'000'000);
            }
        }
        return true;
    }

    [[nodiscard]] std::vector<std::string> access() const {
        std::ifstream file{config.access_log};
        std::vector<std::string> lines;
        for (std::string line; std::getline(file, line);) {
            lines.push_back(line);
        }
        return lines;
    }

    std::uint16_t port() { return sessions.server().port(); }

    nic::ScratchDirectory scratch;
    GatewayConfig config{.feed = "test",
                         .address = "127.0.0.1:0",
                         .keys = scratch.file("keys"),
                         .underlyings = {},
                         .metrics_address = "",
                         .access_log = scratch.file("access.log")};
    Market market;
    FakeReplays replays;
    std::vector<std::string> notes;
    NoteGateway note = [this](GatewayNote, const std::string& subject,
                              const std::string& sentence) {
        notes.push_back(subject + ": " + sentence);
    };
    ClientSessions sessions{config, market, replays, note};
    std::int64_t now_ns = 1'796'083'170'250'000'000;  ///< 2026-11-30 23:59:30.250 UTC
};

TEST_F(ClientSessionsTest, a_session_over_the_end_of_a_month_is_logged_in_both_months) {
    {
        LiveClient client{port(), follow_trades};
        ASSERT_TRUE(serve([&] { return client.read().size() == 1; }));
        now_ns += 60 * second_ns;
        ASSERT_TRUE(serve([&] { return client.read().size() == 2; }));
        EXPECT_EQ(client.read()[1], "system 0: Heartbeat");
        EXPECT_THAT(access(), ElementsAre(AllOf(HasSubstr(R"("from":"2026-11-30T23:59:30.250Z")"),
                                                HasSubstr(R"("to":"2026-11-30T23:59:59.999Z")"),
                                                HasSubstr(R"("records":1,)"))));
    }
    ASSERT_TRUE(serve([&] { return sessions.totals().endings.read(SessionEnding::client) == 1; }));
    ASSERT_EQ(access().size(), 2U);
    EXPECT_THAT(access()[1], AllOf(HasSubstr(R"("from":"2026-12-01T00:00:00.000Z")"),
                                   HasSubstr(R"("to":"2026-12-01T00:00:30.250Z")"),
                                   HasSubstr(R"("records":1,)")));
    EXPECT_EQ(sessions.totals().ended.read(SessionCount::sent), 2U);
    EXPECT_THAT(notes.back(), HasSubstr("; 2 records sent, 0 skipped"));
}

/// The log of the program gets the line, which somebody appends to the access log later.
TEST_F(ClientSessionsTest, a_line_that_the_access_log_lacks_is_noted_whole) {
    GatewayConfig full = config;
    full.access_log = "/dev/full";
    ClientSessions others{full, market, replays, note};
    Problems problems;
    ASSERT_TRUE(others.open(-1, problems)) << text_of(problems);
    {
        LiveClient client{others.server().port(), follow_trades};
        ASSERT_TRUE(serve(others, [&] { return !client.read().empty(); }));
    }
    ASSERT_TRUE(
        serve(others, [&] { return others.totals().endings.read(SessionEnding::client) != 0; }));
    EXPECT_THAT(notes,
                testing::Contains(AllOf(StartsWith("gateway: /dev/full lacks the line {"),
                                        HasSubstr(R"("user":"one")"), HasSubstr("records"))));
}

TEST_F(ClientSessionsTest, an_address_opens_20_connections_each_second) {
    constexpr std::size_t each_second = 20;
    ASSERT_TRUE(serve([&] { return sessions.step(now_ns) == 0; }));
    std::vector<std::unique_ptr<Socket>> sockets;
    for (std::size_t i = 0; i <= each_second; ++i) {
        sockets.push_back(std::make_unique<Socket>(port()));
    }
    ASSERT_TRUE(serve([&] {
        sockets.back()->read();
        return sockets.back()->ended();
    }));
    EXPECT_EQ(sessions.refused().read(), 1U);
    for (std::size_t i = 0; i < each_second; ++i) {
        sockets[i]->read();
        EXPECT_FALSE(sockets[i]->ended());
    }
    now_ns += second_ns + 1;
    Socket later{port()};
    ASSERT_TRUE(serve([&] {
        later.read();
        return later.text().find("cram=") != std::string::npos;
    }));
}

TEST_F(ClientSessionsTest, keys_that_cannot_be_read_change_nothing) {
    LiveClient client{port(), follow_trades};
    ASSERT_TRUE(serve([&] { return client.read().size() == 1; }));
    write_keys("keys: [{user: one}]\n");
    sessions.reload_keys();
    EXPECT_EQ(sessions.totals().keys_refused.read(), 1U);
    EXPECT_THAT(notes.back(), StartsWith("keys: "));
    LiveClient another{port(), follow_trades};
    ASSERT_TRUE(serve([&] { return another.read().size() == 1; }));
    EXPECT_EQ(client.read().size(), 1U);

    write_keys("keys: [{user: two, key: db-99999999999999999999999999999}]\n");
    sessions.reload_keys();
    EXPECT_EQ(sessions.totals().keys_refused.read(), 0U);
    ASSERT_TRUE(serve([&] { return client.read().size() == 2 && another.read().size() == 2; }));
    EXPECT_THAT(client.read()[1], StartsWith("error 2: "));
}

TEST_F(ClientSessionsTest, counters_of_a_user_outlive_its_sessions_and_its_key) {
    write_keys("keys: [{user: one, key: " + std::string{first_key} + ", sessions: 1}]\n");
    sessions.reload_keys();
    const auto count = [this](SessionCount which) {
        return sessions.users().at("one").counts[static_cast<std::size_t>(which)];
    };
    EXPECT_EQ(count(SessionCount::sent), 0U) << "before the first session";
    for (std::uint64_t ended = 1; ended <= 2; ++ended) {
        LiveClient client{port(), follow_trades};
        ASSERT_TRUE(serve([&] { return client.read().size() == 1; }));
        EXPECT_EQ(sessions.users().at("one").sessions, 1U);
        EXPECT_EQ(count(SessionCount::sent), ended);
        LiveClient above_the_limit{port(), follow_trades};
        ASSERT_TRUE(serve([&] {
            above_the_limit.read();
            return above_the_limit.ended();
        }));
        EXPECT_EQ(count(SessionCount::refusals), ended);
    }
    ASSERT_TRUE(serve([&] { return sessions.totals().endings.read(SessionEnding::client) == 2; }));
    write_keys("keys: [{user: two, key: db-99999999999999999999999999999}]\n");
    sessions.reload_keys();
    EXPECT_EQ(sessions.users().at("one").sessions, 0U);
    EXPECT_EQ(count(SessionCount::sent), 2U);
    EXPECT_EQ(count(SessionCount::subscriptions), 2U);
    EXPECT_EQ(count(SessionCount::refusals), 2U);
    EXPECT_EQ(sessions.users().at("two").sessions, 0U);
}

}  // namespace
}  // namespace pinstrike::actors::gateway::test
