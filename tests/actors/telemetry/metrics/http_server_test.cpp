// path: cold
//
// The server of the metrics endpoint: no client delays another.

#include "actors/telemetry/metrics/http_server.h"

#include "nic/file_descriptor.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace pinstrike::actors {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::size_t long_answer = 8U << 20;  // more than the kernel's buffers hold

/// A scrape takes longer than this only if it waits for other connections, of which each has
/// seconds. A busy machine takes less.
constexpr double held_up_s = 30;
constexpr double patience_s = 120;

HttpAnswer answer(const std::string& path, const EndpointCounters& /*counters*/) {
    if (path == "/metrics") {
        return {200, "a 1\n"};
    }
    if (path == "/long") {
        return {200, std::string(long_answer, 'x')};
    }
    if (path == "/fault") {
        throw std::runtime_error("no memory");
    }
    return {404, "not here\n"};
}

/// The seconds since `start`.
double since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

class HttpServerTest : public testing::Test {
  protected:
    HttpServerTest() {
        rlimit files{};
        ::getrlimit(RLIMIT_NOFILE, &files);
        files.rlim_cur = files.rlim_max;
        ::setrlimit(RLIMIT_NOFILE, &files);
        server_ = HttpServer::open("127.0.0.1", 0, answer, complaint_);
    }

    void SetUp() override { ASSERT_TRUE(server_) << complaint_.text; }

    [[nodiscard]] nic::FileDescriptor connected() const {
        nic::FileDescriptor socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_port = htons(server_->port());
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        EXPECT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
        return socket;
    }

    static void say(const nic::FileDescriptor& socket, std::string_view text) {
        ::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL);
    }

    /// Reads until the other side closes.
    static std::string heard(const nic::FileDescriptor& socket) {
        const timeval patience{static_cast<time_t>(patience_s), 0};
        ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        std::string text;
        std::vector<char> piece(65536);
        ssize_t count = 0;
        while ((count = ::recv(socket.get(), piece.data(), piece.size(), 0)) > 0) {
            text.append(piece.data(), static_cast<std::size_t>(count));
        }
        return text;
    }

    /// True if the other side closes within the time.
    static bool closed(const nic::FileDescriptor& socket, std::chrono::milliseconds within = 0ms) {
        pollfd looked_at{socket.get(), POLLRDHUP, 0};
        return ::poll(&looked_at, 1, static_cast<int>(within.count())) == 1 &&
               (looked_at.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
    }

    [[nodiscard]] std::string asked(std::string_view request) const {
        const nic::FileDescriptor socket = connected();
        say(socket, request);
        return heard(socket);
    }

    /// The duration of a scrape in seconds.
    [[nodiscard]] double scrape_seconds() const {
        const auto start = Clock::now();
        EXPECT_THAT(asked("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"),
                    testing::AllOf(StartsWith("HTTP/1.1 200 "), EndsWith("\r\n\r\na 1\n")));
        return since(start);
    }

    [[nodiscard]] std::uint64_t count(EndpointCount which) const {
        return server_->counters().read(which);
    }

    Problem complaint_;
    std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpServerTest, AnswersGetAndHeadAndNothingElse) {
    EXPECT_LT(scrape_seconds(), held_up_s);
    EXPECT_THAT(asked("GET /metrics?x=y HTTP/1.0\r\n\r\n"), EndsWith("\r\n\r\na 1\n"));
    EXPECT_THAT(
        asked("HEAD /metrics HTTP/1.1\r\nHost: x\r\n\r\n"),
        testing::AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr("Content-Length: 4\r\n"),
                       HasSubstr("Content-Type: text/plain; version=0.0.4"), EndsWith("\r\n\r\n")));
    EXPECT_THAT(asked("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), StartsWith("HTTP/1.1 404 "));
    EXPECT_THAT(asked("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n"),
                testing::AllOf(StartsWith("HTTP/1.1 404 "), EndsWith("\r\n\r\n")));
    EXPECT_THAT(asked("DELETE /metrics HTTP/1.1\r\nHost: x\r\n\r\n"),
                testing::AllOf(StartsWith("HTTP/1.1 405 "), HasSubstr("Allow: GET, HEAD\r\n")));
    EXPECT_THAT(asked("GET /fault HTTP/1.1\r\nHost: x\r\n\r\n"),
                testing::AllOf(StartsWith("HTTP/1.1 500 "), HasSubstr("no memory")));
    EXPECT_EQ(count(EndpointCount::answered), 7U);
    EXPECT_EQ(count(EndpointCount::failed), 1U);
    EXPECT_EQ(count(EndpointCount::late), 0U);
}

TEST_F(HttpServerTest, LongAnswersAreWhole) {
    const std::string whole = asked("GET /long HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_EQ(whole.size() - whole.find("\r\n\r\n") - 4, long_answer);
}

TEST_F(HttpServerTest, ClosesWhatIsNoRequestOrTooLong) {
    EXPECT_EQ(asked("no request\r\n\r\n"), "");
    EXPECT_EQ(asked("GET / HTTP/1.1\r\nX: " + std::string(HttpServer::request_bytes_max + 1, 'x') +
                    "\r\n\r\n"),
              "");
    EXPECT_LT(scrape_seconds(), held_up_s);
}

/// 1,000 connections that send nothing, and 100 that send single bytes.
TEST_F(HttpServerTest, IdleAndDrippingConnectionsHoldUpNobody) {
    std::vector<nic::FileDescriptor> idle;
    std::vector<nic::FileDescriptor> dripping;
    for (int i = 0; i < 1000; ++i) {
        idle.push_back(connected());
    }
    EXPECT_LT(scrape_seconds(), held_up_s);
    for (int i = 0; i < 100; ++i) {
        dripping.push_back(connected());
        say(dripping.back(), "GET /metrics HTTP/1.1\r\nX: ");
    }
    const auto start = Clock::now();
    while (since(start) < 1) {
        for (const nic::FileDescriptor& each : dripping) {
            say(each, "x");
        }
        EXPECT_LT(scrape_seconds(), held_up_s);
    }
    // On a slow machine some of them were late before they had to give way.
    while (count(EndpointCount::gave_way) + count(EndpointCount::late) <
           1000U + 100 - HttpServer::connections_max) {
        std::this_thread::sleep_for(1ms);
        ASSERT_LT(since(start), patience_s);
    }
    EXPECT_TRUE(closed(idle.front()));
    EXPECT_TRUE(closed(idle.back()));
}

TEST_F(HttpServerTest, SingleBytesDoNotExtendTheTimeToAsk) {
    const auto start = Clock::now();
    const nic::FileDescriptor socket = connected();
    say(socket, "GET /metrics HTTP/1.1\r\nX: ");
    while (!closed(socket, 100ms)) {
        say(socket, "x");
        ASSERT_LT(since(start), patience_s);
    }
    EXPECT_GT(since(start), 1.5);
    while (count(EndpointCount::late) != 1) {  // counted after it is closed
        std::this_thread::sleep_for(1ms);
        ASSERT_LT(since(start), patience_s);
    }
}

TEST_F(HttpServerTest, WhoDoesNotReadHoldsUpNobodyAndIsClosed) {
    const auto start = Clock::now();
    std::vector<nic::FileDescriptor> deaf;
    for (std::size_t i = 0; i < HttpServer::connections_max; ++i) {
        deaf.push_back(connected());
        say(deaf.back(), "GET /long HTTP/1.1\r\nHost: x\r\n\r\n");
    }
    for (const nic::FileDescriptor& each : deaf) {
        pollfd begun{each.get(), POLLIN, 0};
        ASSERT_EQ(::poll(&begun, 1, static_cast<int>(patience_s * 1000)), 1);
    }
    EXPECT_LT(scrape_seconds(), held_up_s);
    const std::uint64_t others = count(EndpointCount::gave_way);
    // On a slow machine a place may be free already.
    EXPECT_GE(others + count(EndpointCount::late), 1U) << "the oldest gives way";
    while (count(EndpointCount::late) + others < HttpServer::connections_max) {
        std::this_thread::sleep_for(50ms);
        ASSERT_LT(since(start), patience_s);
    }
    EXPECT_GT(since(start), 7.5);
}

TEST_F(HttpServerTest, WithoutDescriptorsItWaitsAndThenAnswers) {
    const nic::FileDescriptor client{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    rlimit before{};
    ::getrlimit(RLIMIT_NOFILE, &before);
    const int lowest_free = ::fcntl(client.get(), F_DUPFD, 0);
    ::close(lowest_free);
    const rlimit none{static_cast<rlim_t>(lowest_free), before.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &none);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(server_->port());
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const auto start = Clock::now();
    ASSERT_EQ(::connect(client.get(), reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
    say(client, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
    while (count(EndpointCount::untaken) < 5) {
        std::this_thread::sleep_for(10ms);
        ASSERT_LT(since(start), patience_s);
    }
    EXPECT_GT(since(start), 0.39) << "it does not spin";
    ::setrlimit(RLIMIT_NOFILE, &before);
    EXPECT_THAT(heard(client), EndsWith("a 1\n"));
}

TEST_F(HttpServerTest, EndsAtOnceWhateverIsOpen) {
    const nic::FileDescriptor idle = connected();
    const nic::FileDescriptor deaf = connected();
    say(deaf, "GET /long HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_LT(scrape_seconds(), held_up_s);
    const auto start = Clock::now();
    server_.reset();
    EXPECT_LT(since(start), 7) << "who does not read has 8 s";
    EXPECT_TRUE(closed(idle, 60s));
}

TEST(HttpServer, AnAddressThatIsTakenIsRefused) {
    Problem complaint;
    const auto one = HttpServer::open("127.0.0.1", 0, answer, complaint);
    ASSERT_TRUE(one) << complaint.text;
    EXPECT_FALSE(HttpServer::open("127.0.0.1", one->port(), answer, complaint));
    EXPECT_THAT(complaint.text, HasSubstr("in use"));
    EXPECT_EQ(complaint.remedy, Remedy::retry);
    EXPECT_FALSE(HttpServer::open("192.0.2.77", 9464, answer, complaint));
    EXPECT_THAT(complaint.text, HasSubstr("assign"));
    EXPECT_EQ(complaint.remedy, Remedy::retry);
}

}  // namespace
}  // namespace pinstrike::actors
