// path: cold
//
// The sockets of the gateway, over the loopback interface.
#include "actors/gateway/socket_server.h"

#include "tests/actors/gateway/client_socket.h"
#include "tests/config/problems.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace pinstrike::actors::gateway::test {
namespace {

using testing::HasSubstr;

/// Keeps what happens, and can send back what comes.
class Echo final : public SocketEvents {
  public:
    [[nodiscard]] bool accepted(std::uint32_t connection, const std::string& address) override {
        EXPECT_EQ(address, "127.0.0.1");
        EXPECT_TRUE(open.insert(connection).second);
        return accepts;
    }

    void received(std::uint32_t connection, std::span<const std::byte> bytes) override {
        EXPECT_TRUE(open.contains(connection));
        in[connection].append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        if (echoes) {
            send(connection);
        }
    }

    void sent(std::uint32_t connection, std::size_t count) override {
        EXPECT_TRUE(open.contains(connection));
        out[connection] += count;
        if (echoes) {
            send(connection);
        }
    }

    void closed(std::uint32_t connection) override {
        EXPECT_EQ(open.erase(connection), 1U);
        ++closed_count;
        in.erase(connection);
        out.erase(connection);
    }

    [[nodiscard]] bool takes_more(std::uint32_t /*connection*/) const override { return takes; }

    SocketServer* server = nullptr;
    bool accepts = true;
    bool takes = true;
    bool echoes = false;
    std::set<std::uint32_t> open;
    std::map<std::uint32_t, std::string> in;
    std::map<std::uint32_t, std::size_t> out;
    int closed_count = 0;

  private:
    void send(std::uint32_t connection) {
        const std::string& text = in[connection];
        const std::size_t from = out[connection];
        if (!server->is_sending(connection) && from < text.size()) {
            // The text may move while it grows, so each send has bytes of its own.
            copies_.push_back(std::make_unique<std::string>(text.substr(from)));
            server->send(connection, std::as_bytes(std::span{*copies_.back()}));
        }
    }

    std::vector<std::unique_ptr<std::string>> copies_;
};

class SocketTest : public testing::Test {
  protected:
    void open(std::size_t connections_max = 10) {
        Problems problems;
        server = SocketServer::open({{0x7F00'0001}, 0}, -1, connections_max, events, problems);
        ASSERT_NE(server, nullptr) << text_of(problems);
        ASSERT_NE(server->port(), 0U);
        events.server = server.get();
    }

    /// Serves until `done`; false: it took too long.
    bool serve(const std::function<bool()>& done) {
        const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{60};
        while (!done()) {
            if (std::chrono::steady_clock::now() > until) {
                return false;
            }
            if (server->poll() == 0) {
                server->wait(1'000'000);
            }
        }
        return true;
    }

    Echo events;
    std::unique_ptr<SocketServer> server;
};

TEST_F(SocketTest, what_a_client_sends_comes_back) {
    open();
    events.echoes = true;
    Socket one{server->port()};
    Socket two{server->port()};
    const std::string text(300'000, 'x');
    one.send("one");
    two.send(text);
    ASSERT_TRUE(serve([&] {
        one.read();
        two.read();
        return one.text().size() == 3 && two.text().size() == text.size();
    }));
    EXPECT_EQ(one.text(), "one");
    EXPECT_EQ(two.text(), text);
    EXPECT_EQ(events.open.size(), 2U);
    EXPECT_EQ(server->refused().read(), 0U);
}

TEST_F(SocketTest, a_connection_ends_when_the_client_ends_it) {
    open();
    {
        const Socket client{server->port()};
        client.send("last");
        client.finish();
        ASSERT_TRUE(serve([&] { return !events.in.empty() || events.closed_count == 1; }));
        ASSERT_TRUE(serve([&] { return events.closed_count == 1; }));
    }
    EXPECT_TRUE(events.open.empty());
    const Socket other{server->port()};
    ASSERT_TRUE(serve([&] { return events.open.size() == 1; }));
    EXPECT_TRUE(events.open.contains(0));  // the number is used again
}

TEST_F(SocketTest, a_finished_connection_ends_for_the_client_behind_the_last_bytes) {
    open();
    Socket client{server->port()};
    ASSERT_TRUE(serve([&] { return events.open.size() == 1; }));
    const std::string last = "the last bytes";
    server->send(0, std::as_bytes(std::span{last}));
    EXPECT_TRUE(server->is_sending(0));
    ASSERT_TRUE(serve([&] { return events.out[0] == last.size(); }));
    EXPECT_FALSE(server->is_sending(0));
    server->finish(0);
    ASSERT_TRUE(serve([&] {
        client.read();
        return client.ended();
    }));
    EXPECT_EQ(client.text(), last);
    client.send("more");  // the other direction is open
    ASSERT_TRUE(serve([&] { return events.in[0] == "more"; }));
    client.finish();
    ASSERT_TRUE(serve([&] { return events.closed_count == 1; }));
}

TEST_F(SocketTest, an_aborted_connection_is_closed_even_while_it_sends) {
    open();
    Socket client{server->port()};  // which does not read
    ASSERT_TRUE(serve([&] { return events.open.size() == 1; }));
    const std::string large(64 << 20, 'x');
    server->send(0, std::as_bytes(std::span{large}));
    for (int i = 0; i < 20; ++i) {
        server->poll();
        server->wait(1'000'000);
    }
    EXPECT_EQ(events.closed_count, 0);
    server->abort(0);
    ASSERT_TRUE(serve([&] { return events.closed_count == 1; }));
    EXPECT_TRUE(events.open.empty());
    while (!client.ended()) {
        client.read();
    }
    EXPECT_TRUE(client.was_reset());  // after which clients connect again
}

TEST_F(SocketTest, a_client_that_ends_first_is_not_reset) {
    open();
    Socket client{server->port()};
    client.finish();
    ASSERT_TRUE(serve([&] { return events.closed_count == 1; }));
    while (!client.ended()) {
        client.read();
    }
    EXPECT_FALSE(client.was_reset());
}

TEST_F(SocketTest, a_connection_from_which_nothing_is_taken_is_aborted_and_resumed) {
    open();
    events.takes = false;
    const Socket client{server->port()};
    client.send("a");
    ASSERT_TRUE(serve([&] { return events.in[0] == "a"; }));
    client.send("b");
    for (int i = 0; i < 20; ++i) {
        server->poll();
        server->wait(1'000'000);
    }
    EXPECT_EQ(events.in[0], "a");
    server->resume(0);
    ASSERT_TRUE(serve([&] { return events.in[0] == "ab"; }));
    server->abort(0);
    ASSERT_TRUE(serve([&] { return events.closed_count == 1; }));
}

TEST_F(SocketTest, more_connections_than_allowed_are_closed_and_counted) {
    open(2);
    const Socket one{server->port()};
    const Socket two{server->port()};
    ASSERT_TRUE(serve([&] { return events.open.size() == 2; }));
    Socket three{server->port()};
    ASSERT_TRUE(serve([&] {
        three.read();
        return three.ended();
    }));
    EXPECT_EQ(server->refused().read(), 1U);
    EXPECT_EQ(events.open.size(), 2U);
    one.finish();
    ASSERT_TRUE(serve([&] { return events.closed_count == 1; }));
    const Socket four{server->port()};
    ASSERT_TRUE(serve([&] { return events.open.size() == 2; }));
    EXPECT_EQ(server->refused().read(), 1U);
}

TEST_F(SocketTest, a_connection_that_is_not_accepted_is_closed) {
    open();
    events.accepts = false;
    Socket client{server->port()};
    ASSERT_TRUE(serve([&] {
        client.read();
        return client.ended() && events.closed_count == 1;
    }));
}

TEST_F(SocketTest, an_address_that_cannot_be_had_is_a_problem) {
    open();
    Problems problems;
    EXPECT_EQ(SocketServer::open({{0x7F00'0001}, server->port()}, -1, 10, events, problems),
              nullptr);
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_THAT(problems[0].text, HasSubstr("cannot listen at 127.0.0.1:"));
    EXPECT_EQ(problems[0].remedy, Remedy::retry);
}

TEST_F(SocketTest, a_server_that_stops_accepting_leaves_its_socket_to_the_next_process) {
    open();
    events.echoes = true;
    Socket old{server->port()};
    ASSERT_TRUE(serve([&] { return events.open.size() == 1; }));
    const std::uint16_t port = server->port();
    const int inherited = ::dup(server->listener());
    server->stop_accepting(true);
    Socket waiting{port};
    waiting.send("to the next");
    old.send("to this one");
    ASSERT_TRUE(serve([&] {
        old.read();
        return old.text() == "to this one";
    }));
    EXPECT_EQ(events.open.size(), 1U);
    server.reset();
    events.open.clear();
    events.in.clear();
    events.out.clear();
    Problems problems;
    server = SocketServer::open({{0x7F00'0001}, port}, inherited, 10, events, problems);
    ASSERT_NE(server, nullptr) << text_of(problems);
    EXPECT_EQ(server->listener(), inherited);
    EXPECT_EQ(server->port(), port);
    events.server = server.get();
    ASSERT_TRUE(serve([&] {
        waiting.read();
        return waiting.text() == "to the next";
    }));
}

TEST_F(SocketTest, a_server_that_stops_for_good_refuses_connections) {
    open();
    server->stop_accepting(false);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(server->port());
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_NE(::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address),
              0);
    EXPECT_EQ(errno, ECONNREFUSED);
    ::close(descriptor);
}

TEST_F(SocketTest, an_inherited_socket_of_another_address_is_not_used) {
    open();
    const int other = ::dup(server->listener());
    Problems problems;
    const auto next = SocketServer::open({{0x7F00'0001}, 0}, other, 10, events, problems);
    ASSERT_NE(next, nullptr) << text_of(problems);
    EXPECT_NE(next->port(), server->port());
}

TEST_F(SocketTest, a_server_can_end_with_open_connections) {
    open();
    Socket client{server->port()};
    ASSERT_TRUE(serve([&] { return events.open.size() == 1; }));
    server.reset();
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{60};
    while (!client.ended() && std::chrono::steady_clock::now() < until) {
        pollfd none{};
        ::poll(&none, 0, 1);
        client.read();
    }
    EXPECT_TRUE(client.ended());
}

}  // namespace
}  // namespace pinstrike::actors::gateway::test
