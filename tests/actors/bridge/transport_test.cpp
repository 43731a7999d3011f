// path: cold
//
// Both sides of a bridge over loopback with TLS, in one thread.
#include "actors/bridge/bridge_actor.h"
#include "actors/bridge/bridge_client.h"
#include "actors/bridge/bridge_server.h"
#include "actors/runtime/executor.h"
#include "actors/runtime/executor_thread.h"
#include "tests/actors/bridge/bridge_scene.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace pinstrike::actors::bridge::test {
namespace {

using ::testing::HasSubstr;

class BridgeTransport : public ::testing::Test {
  protected:
    void SetUp() override {
        std::signal(SIGPIPE, SIG_IGN);
        make_authority("authority");
        make_authority("other");
        server_tls = certificate_of("server", "authority", "authority");
        client_tls = certificate_of("client", "authority", "authority");
    }

    [[nodiscard]] std::string path(const std::string& name) const {
        return folder.path() + "/" + name;
    }

    void openssl(const std::string& arguments) {
        ASSERT_EQ(std::system(fmt::format("openssl {} 2>{}", arguments, path("log")).c_str()), 0);
    }

    void make_authority(const std::string& name) {
        openssl(
            fmt::format("req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 "
                        "-subj /CN={0} -keyout {1}/{0}.key -out {1}/{0}.pem",
                        name, folder.path()));
    }

    peer::TlsConfig certificate_of(const std::string& name, const std::string& authority,
                                   const std::string& trusts) {
        openssl(
            fmt::format("req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN={0} "
                        "-keyout {1}/{0}.key -out {1}/{0}.csr",
                        name, folder.path()));
        openssl(
            fmt::format("x509 -req -days 1 -in {1}/{0}.csr -CA {1}/{2}.pem -CAkey {1}/{2}.key "
                        "-CAcreateserial -out {1}/{0}.pem",
                        name, folder.path(), authority));
        return {path(name + ".pem"), path(name + ".key"), path(trusts + ".pem")};
    }

    void serve(std::size_t connections_max = 8) {
        server.emplace("test", connections_max, noted.taker());
        Problems problems;
        ASSERT_TRUE(server->open("127.0.0.1:0", server_tls, problems));
    }

    void join(const peer::TlsConfig& tls) {
        client.emplace(JoinConfig{.name = "copy"}, noted.taker());
        Problems problems;
        ASSERT_TRUE(client->open(fmt::format("127.0.0.1:{}", server->port()), tls, problems));
    }

    /// The time of both sides. A stop of this thread counts as a moment, because neither side can
    /// say anything meanwhile.
    std::int64_t now_ns() {
        constexpr std::int64_t moment_ns = 50 * ms_ns;
        const std::int64_t real_ns = runtime::steady_ns();
        if (frozen_ns) {
            now_ns_ = *frozen_ns;
            real_ns_ = real_ns;
            return now_ns_;
        }
        now_ns_ += std::min(real_ns - std::exchange(real_ns_, real_ns), moment_ns);
        return now_ns_;
    }

    template <class Done>
    bool until(Done&& done) {
        const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds{60};
        while (!done()) {
            std::size_t work = server ? server->step(now_ns()) : 0;
            work += client && steps_client ? client->step(now_ns()) : 0;
            if (work == 0) {
                std::this_thread::sleep_for(std::chrono::microseconds{200});
            }
            if (std::chrono::steady_clock::now() > give_up) {
                return false;
            }
        }
        return true;
    }

    [[nodiscard]] bool noted_text(BridgeNote note, const std::string& part) const {
        return std::ranges::any_of(noted.notes, [&](const auto& each) {
            return each.first == note && each.second.find(part) != std::string::npos;
        });
    }

    PublishFolder folder;
    peer::TlsConfig server_tls;
    peer::TlsConfig client_tls;
    Noted noted;
    std::optional<BridgeServer> server;
    std::optional<BridgeClient> client;
    bool steps_client = true;
    std::optional<std::int64_t> frozen_ns;  ///< the time of both sides, if it does not pass

  private:
    std::int64_t real_ns_ = runtime::steady_ns();
    std::int64_t now_ns_ = real_ns_;
};

TEST_F(BridgeTransport, AFeedIsCarriedAndBothSidesEnd) {
    PublishedFeed feed;
    Day day{3};
    feed.books[0]->on_events(EventBatch{day.next(500)});
    serve();
    join(client_tls);
    ASSERT_TRUE(until([&] { return client->is_live(); }));
    feed.books[0]->on_events(EventBatch{day.next(500)});
    const auto records = [&] { return client->counters().read(JoinCount::published); };
    const std::uint64_t end = feed.file->stream_records(0);
    ASSERT_TRUE(until([&] {
        return records() != 0 && records() == server->counters().read(ServeCount::sent) &&
               server->counters().read(ServeCount::read) >= records() &&
               feed.file->stream_records(0) == end && are_equal();
    }));
    client->leave();
    ASSERT_TRUE(until([&] { return client->is_over() && server->connections() == 0; }));
    EXPECT_EQ(server->counters().read(ServeCount::left), 1U);
    EXPECT_EQ(client->counters().read(JoinCount::left), 1U);
    EXPECT_TRUE(client->joiner().carried().balances());
}

/// Otherwise the last frame could be lost: a connection that is closed while bytes wait to be read
/// is reset.
TEST_F(BridgeTransport, AHostThatLeavesWaitsUntilTheServingSideCloses) {
    PublishedFeed feed;
    serve();
    join(client_tls);
    ASSERT_TRUE(until([&] { return client->is_live(); }));
    frozen_ns = now_ns();
    client->leave();
    for (unsigned i = 0; i < 10; ++i) {
        client->step(*frozen_ns);
    }
    EXPECT_FALSE(client->is_over());
    ASSERT_TRUE(until([&] { return client->is_over() && server->connections() == 0; }));
    EXPECT_EQ(client->counters().read(JoinCount::left), 1U);
    EXPECT_EQ(server->counters().read(ServeCount::left), 1U);
}

TEST_F(BridgeTransport, AServingSideThatEndsAmidEventsEndsBothAsAgreed) {
    PublishedFeed feed{1, 1 << 18};
    Day day{3};
    serve();
    join(client_tls);
    ASSERT_TRUE(until([&] { return client->is_live(); }));
    frozen_ns = now_ns();
    feed.books[0]->on_events(EventBatch{day.next(20'000)});
    for (unsigned i = 0; i < 100; ++i) {
        server->step(*frozen_ns);
    }
    *frozen_ns += alive_every_ns;
    for (unsigned i = 0; i < 2; ++i) {
        client->step(*frozen_ns);  // what it says waits to be read
    }
    server->leave();
    for (unsigned i = 0; i < 100; ++i) {
        server->step(*frozen_ns);
    }
    ASSERT_TRUE(until([&] { return !client->is_live() && server->connections() == 0; }));
    EXPECT_EQ(client->counters().read(JoinCount::left), 1U);
    EXPECT_EQ(client->counters().read(JoinCount::downs), 0U);
    EXPECT_EQ(server->counters().read(ServeCount::left), 1U);
}

/// The certificate of the serving side waits to be read when the host leaves.
TEST_F(BridgeTransport, AHostThatLeavesDuringTheHandshakeEnds) {
    PublishedFeed feed;
    serve();
    join(client_tls);
    const auto step = [](auto& side) {
        for (unsigned i = 0; i < 20; ++i) {
            side.step(runtime::steady_ns());
            std::this_thread::sleep_for(std::chrono::milliseconds{2});
        }
    };
    step(*client);
    step(*server);
    client->leave();
    ASSERT_TRUE(until([&] { return client->is_over() && server->connections() == 0; }));
}

/// The system refuses to connect to a group of hosts.
TEST_F(BridgeTransport, TheReasonWhyThereIsNoConnectionIsLogged) {
    client.emplace(JoinConfig{.name = "copy"}, noted.taker());
    Problems problems;
    ASSERT_TRUE(client->open("224.0.0.1:9480", client_tls, problems));
    ASSERT_TRUE(until([&] { return noted.has(BridgeNote::down); }));
    EXPECT_TRUE(noted_text(BridgeNote::down, "unreachable")) << noted.of(BridgeNote::down).front();
}

TEST_F(BridgeTransport, AnAddressThatIsNoneIsRefused) {
    for (const char* address : {"", "192.0.2.7", "192.0.2.7:0", "192.0.2.7:70000", "host:9480"}) {
        client.emplace(JoinConfig{.name = "copy"}, noted.taker());
        Problems problems;
        EXPECT_FALSE(client->open(address, client_tls, problems)) << address;
        EXPECT_EQ(problems.size(), 1U) << address;
    }
}

TEST_F(BridgeTransport, AnAddressInUseIsAProblem) {
    serve();
    BridgeServer second{"test", 8, noted.taker()};
    Problems problems;
    EXPECT_FALSE(second.open(fmt::format("127.0.0.1:{}", server->port()), server_tls, problems));
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_THAT(problems.front().text, HasSubstr("in use"));
    EXPECT_EQ(exit_of(problems), Exit::failed) << "another start may succeed";
}

TEST_F(BridgeTransport, TheServingSideLogsWhyAHostGetsNoFeed) {
    serve();
    join(client_tls);
    ASSERT_TRUE(until([&] { return noted_text(BridgeNote::feed, "does not get feed test: no"); }));
    PublishedFeed feed;
    ASSERT_TRUE(until([&] { return client->is_live(); }));
    EXPECT_TRUE(noted_text(BridgeNote::feed, "gets feed test"));
}

TEST_F(BridgeTransport, AnotherAuthorityIsRefusedOnBothSides) {
    PublishedFeed feed;
    serve();
    join(certificate_of("stranger", "other", "authority"));
    ASSERT_TRUE(until([&] { return server->counters().read(ServeCount::refused) != 0; }));
    EXPECT_FALSE(client->is_live());
    client.reset();
    join(certificate_of("misled", "authority", "other"));
    ASSERT_TRUE(until([&] { return noted_text(BridgeNote::down, "certificate"); }));
    EXPECT_FALSE(client->is_live());
}

TEST_F(BridgeTransport, TheServerComesBackAndTheClientToo) {
    PublishedFeed feed;
    serve();
    const std::string at = fmt::format("127.0.0.1:{}", server->port());
    join(client_tls);
    ASSERT_TRUE(until([&] { return client->is_live(); }));
    server.reset();  // as if it was killed
    ASSERT_TRUE(until([&] { return !client->is_live(); }));
    EXPECT_EQ(client->counters().read(JoinCount::downs), 1U);
    server.emplace("test", 8, noted.taker());
    Problems problems;
    ASSERT_TRUE(server->open(at, server_tls, problems));
    ASSERT_TRUE(until([&] { return client->is_live(); }));
    client.reset();  // as if it was killed
    ASSERT_TRUE(until([&] { return server->connections() == 0; }));
    EXPECT_EQ(server->counters().read(ServeCount::downs), 1U);
    EXPECT_TRUE(noted.has(BridgeNote::down));
}

TEST_F(BridgeTransport, MoreThanTheMostConnectionsAreRefused) {
    PublishedFeed feed;
    serve(1);
    join(client_tls);
    ASSERT_TRUE(until([&] { return client->is_live(); }));
    BridgeClient second{JoinConfig{.name = "second"}, noted.taker()};
    Problems problems;
    ASSERT_TRUE(second.open(fmt::format("127.0.0.1:{}", server->port()), client_tls, problems));
    ASSERT_TRUE(until([&] {
        second.step(now_ns());
        return noted_text(BridgeNote::refused, "connections_max");
    }));
    EXPECT_FALSE(second.is_live());
}

/// A joining host that takes no more bytes, and then ends the session.
class Stuck {
  public:
    Stuck(const peer::TlsConfig& tls, std::uint16_t port) {
        Problems problems;
        certificates_ = peer::open_tls(tls, "tls", problems);
        const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        const int bytes = 4096;
        ::setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
        sockaddr_in name{};
        name.sin_family = AF_INET;
        name.sin_port = htons(port);
        name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        const auto* const generic = reinterpret_cast<const sockaddr*>(&name);  // tidy: sockets' API
        static_cast<void>(::connect(descriptor, generic, sizeof name));
        socket_ = std::make_unique<peer::Channel>(nic::FileDescriptor{descriptor},
                                                  certificates_.get(), false);
        joiner_.connect("", runtime::steady_ns());
    }

    [[nodiscard]] bool is_open() { return socket_->advance() == peer::Channel::State::open; }

    /// Sends what the joiner has to say.
    void say() { joiner_.sent(socket_->write(joiner_.output())); }

    void leave() { joiner_.leave("enough"); }

    /// Sends bytes behind the last frame.
    void say_more() {
        const std::array<std::byte, unit_bytes> more{};
        static_cast<void>(socket_->write(more));
    }

  private:
    JoinCounters counters_;
    Joiner joiner_{{.name = "stuck"}, counters_, [](auto&&...) {}};
    peer::TlsCertificates certificates_;
    std::unique_ptr<peer::Channel> socket_;
};

TEST_F(BridgeTransport, AnEndedSessionWhoseBytesNobodyTakesIsClosed) {
    PublishedFeed feed{1, 1 << 18};
    Day day{3};
    serve();
    Stuck stuck{client_tls, server->port()};
    ASSERT_TRUE(until([&] { return stuck.is_open(); }));
    stuck.say();
    ASSERT_TRUE(until([&] { return server->current() == 1; }));
    feed.books[0]->on_events(EventBatch{day.next(90'000)});
    std::uint64_t bytes = 0;
    ASSERT_TRUE(until([&] {
        const std::uint64_t before = std::exchange(bytes, server->untaken_bytes());
        return before == bytes && bytes > window_bytes / 2;
    }));
    ASSERT_GT(bytes, server->counters().read(ServeCount::bytes)) << "some wait to be sent";
    stuck.leave();
    stuck.say();
    const std::int64_t left_ns = runtime::steady_ns();
    for (unsigned i = 0; i < 10; ++i) {
        server->step(now_ns());
    }
    stuck.say_more();
    ASSERT_EQ(server->connections(), 1U);
    const std::int64_t begin_ns = runtime::steady_ns();
    server->wait(100 * ms_ns);
    EXPECT_GE(runtime::steady_ns() - begin_ns, 90 * ms_ns) << "the thread does not spin";
    ASSERT_TRUE(until([&] { return server->connections() == 0; }));
    EXPECT_GE(runtime::steady_ns() - left_ns, leave_within_ns);
    EXPECT_EQ(server->counters().read(ServeCount::left), 1U);
}

/// An actor that watches the bridge.
class Watcher final : public runtime::MailboxActor {
  public:
    void on(runtime::Down& down) { reason = down.reason(); }

    runtime::Mailbox<runtime::Down> downs{this, {.most = 4}};
    std::string reason;
};

TEST_F(BridgeTransport, AnActorIsToldThatTheBridgeIsDown) {
    PublishedFeed feed;
    serve();
    join(client_tls);
    steps_client = false;  // the actor does
    runtime::Executor executor;
    auto& actor = executor.add<BridgeActor>(*client);
    auto& watcher = executor.add<Watcher>();
    actor.monitor(watcher.downs);
    ASSERT_TRUE(until([&] {
        executor.step(runtime::steady_ns());
        return client->is_live();
    }));
    server.reset();
    ASSERT_TRUE(until([&] {
        executor.step(runtime::steady_ns());
        return !watcher.reason.empty();
    }));
    EXPECT_THAT(watcher.reason, HasSubstr("the bridge is down"));
    EXPECT_TRUE(actor.failed());
}

TEST_F(BridgeTransport, AnActorThatIsStoppedLeavesAsAgreed) {
    PublishedFeed feed;
    serve();
    join(client_tls);
    steps_client = false;
    runtime::Executor executor;
    auto& actor = executor.add<BridgeActor>(*client);
    ASSERT_TRUE(until([&] {
        executor.step(runtime::steady_ns());
        return client->is_live();
    }));
    actor.stop();
    executor.step(runtime::steady_ns());
    ASSERT_TRUE(until([&] { return server->connections() == 0; }));
    EXPECT_TRUE(actor.ended());
    EXPECT_FALSE(actor.failed());
    EXPECT_EQ(server->counters().read(ServeCount::left), 1U);
}

}  // namespace
}  // namespace pinstrike::actors::bridge::test
