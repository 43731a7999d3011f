// path: cold
//
// Peers over real loopback sockets in one thread; the test passes in the time.
#include "actors/peer/peers.h"
#include "actors/peer/secret_file.h"
#include "config/time_units.h"
#include "tests/feed/opra/samples.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <list>
#include <thread>

namespace pinstrike::actors::peer {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

constexpr nic::Ipv4 loopback{0x7F00'0001};
constexpr std::string_view secret_text = "0123456789abcdef0123456789abcdef";
constexpr std::array<std::uint16_t, 1> lines{1};

/// A temporary folder, removed at the end.
class Folder {
  public:
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "peer_test.XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) {
            std::abort();
        }
        path_ = name;
    }

    ~Folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    std::string write(const std::string& name, std::string_view text, unsigned mode = 0600) const {
        const std::string path = (path_ / name).string();
        std::ofstream(path, std::ios::binary) << text;
        EXPECT_EQ(::chmod(path.c_str(), mode), 0);
        return path;
    }

    [[nodiscard]] std::string path(const std::string& name) const {
        return (path_ / name).string();
    }

  private:
    std::filesystem::path path_;
};

struct Answers final : feed::RepairAnswers {
    void block(std::uint16_t line, std::span<const std::byte> bytes) override {
        blocks.push_back({line, std::vector<std::byte>(bytes.begin(), bytes.end())});
    }

    void finished(std::uint64_t id) override { done.push_back(id); }

    void refused(std::uint64_t id, feed::Refusal reason) override {
        refusals.push_back({id, reason});
    }

    std::vector<std::pair<std::uint16_t, std::vector<std::byte>>> blocks;
    std::vector<std::uint64_t> done;
    std::vector<std::pair<std::uint64_t, feed::Refusal>> refusals;
};

/// An instance with its history, its server and its clients.
struct Instance {
    std::unique_ptr<feed::History> history;
    std::unique_ptr<Peers> peers;
    std::vector<std::unique_ptr<feed::RepairSource>> sources;
    Answers answers;

    void step(std::int64_t now_ns) {
        if (peers) {
            peers->step(now_ns);
        }
        for (auto& source : sources) {
            source->step(now_ns, answers);
        }
    }

    void stop() {
        sources.clear();
        peers.reset();
    }
};

feed::RepairRequest request_of(std::uint64_t id, std::uint32_t first, std::uint32_t messages) {
    return {id,
            1,
            first,
            messages,
            std::numeric_limits<std::int64_t>::min(),
            std::numeric_limits<std::int64_t>::max()};
}

class Transport : public testing::Test {
  public:
    Transport() { std::signal(SIGPIPE, SIG_IGN); }

    ~Transport() override {
        for (const int descriptor : port_keepers) {
            ::close(descriptor);
        }
    }

  protected:
    PeerConfig config_of(std::string_view secret = secret_text) {
        PeerConfig config;
        config.listen = {loopback, 0};
        config.secret_file = folder.write("secret" + std::to_string(++files), secret);
        return config;
    }

    void open(Instance& instance, const PeerConfig& config, bool serves) {
        Problems problems;
        if (serves) {
            instance.history = std::make_unique<feed::History>(
                lines, feed::HistoryConfig{.keep_ns = 3600 * second_ns, .memory_bytes = 1 << 20},
                feed::Numbering{});
        }
        instance.peers = Peers::open(
            config, "opra", "opra", instance.history.get(), {},
            [this](const PeerEvent& event) { events.push_back(event); }, problems);
        for (const Problem& problem : problems) {
            ADD_FAILURE() << problem.text;
        }
        ASSERT_TRUE(instance.peers);
        instance.sources = instance.peers->sources();
    }

    void serve() { serve(config_of()); }

    void serve(PeerConfig config) {
        config.listen.port = port;
        if (config.allow.empty()) {
            config.allow = {{loopback, 0xFFFF'FFFF}};
        }
        // Port 0 would mean no server, so the test looks for a free port itself.
        config.listen.port = port == 0 ? free_port() : port;
        port = config.listen.port;
        open(server, config, true);
    }

    void ask() { ask(config_of()); }

    void ask(PeerConfig config) {
        config.connect = {{loopback, port}};
        config.listen = {};
        open(client, config, false);
    }

    /// A port that no other socket gets until the end of the test. A server that reuses addresses
    /// can listen at it, because the socket that keeps it does not listen.
    std::uint16_t free_port() {
        const int descriptor = ::socket(AF_INET, SOCK_STREAM, 0);
        const int on = 1;
        EXPECT_EQ(::setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on), 0);
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_addr.s_addr = htonl(loopback.value);
        socklen_t size = sizeof at;
        auto* address = reinterpret_cast<sockaddr*>(&at);
        EXPECT_EQ(::bind(descriptor, address, size), 0);
        EXPECT_EQ(::getsockname(descriptor, address, &size), 0);
        port_keepers.push_back(descriptor);
        return ntohs(at.sin_port);
    }

    /// Steps both instances until the condition holds; each step advances the time by `step_ns`.
    template <class Holds>
    bool until(Holds holds, std::int64_t step_ns = 1'000'000) {
        const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        while (!holds()) {
            if (std::chrono::steady_clock::now() > patience) {
                return false;
            }
            now_ns += step_ns;
            server.step(now_ns);
            client.step(now_ns);
            std::this_thread::sleep_for(std::chrono::microseconds(200));
        }
        return true;
    }

    bool connected() { return client.peers->clients()[0].connected.read() == 1; }

    bool reported(PeerEvent::Kind kind, const char* text) {
        return std::any_of(events.begin(), events.end(), [&](const PeerEvent& event) {
            return event.kind == kind && event.text.find(text) != std::string::npos;
        });
    }

    std::vector<std::byte> keep_block(std::uint32_t first) {
        const auto bytes = feed::opra::samples::block(feed::opra::samples::short_quotes(10),
                                                      {.retransmission = ' ',
                                                       .session = 0,
                                                       .sequence = first,
                                                       .seconds = 1,
                                                       .nanoseconds = 0});
        EXPECT_TRUE(server.history->keep({1, 10, first, second_ns, now_ns, bytes}));
        return bytes;
    }

    Folder folder;
    int files = 0;
    std::uint16_t port = 0;
    std::vector<int> port_keepers;
    std::int64_t now_ns = 1000 * second_ns;
    std::vector<PeerEvent> events;
    Instance server;
    Instance client;
};

TEST_F(Transport, BlocksComeOverASocket) {
    serve();
    ask();
    ASSERT_TRUE(until([&] { return connected(); }));
    EXPECT_EQ(server.peers->server()->connections(), 1U);
    const auto one = keep_block(1);
    const auto other = keep_block(11);
    keep_block(21);
    EXPECT_EQ(client.sources[0]->request(request_of(1, 5, 10), now_ns), std::nullopt);
    ASSERT_TRUE(until([&] { return !client.answers.done.empty(); }));
    ASSERT_THAT(client.answers.blocks, SizeIs(2));
    EXPECT_EQ(client.answers.blocks[0].second, one);
    EXPECT_EQ(client.answers.blocks[1].second, other);
    EXPECT_EQ(client.sources[0]->request(request_of(2, 100, 10), now_ns), std::nullopt);
    ASSERT_TRUE(until([&] { return !client.answers.refusals.empty(); }));
    EXPECT_EQ(client.answers.refusals[0].second, feed::Refusal::not_kept);
    EXPECT_TRUE(reported(PeerEvent::Kind::connected, "it can request missing messages"));
    EXPECT_TRUE(reported(PeerEvent::Kind::connected, "missing messages can be requested from it"));
}

TEST_F(Transport, ManyAnswersAtOnceComeWhole) {
    serve();
    ask();
    ASSERT_TRUE(until([&] { return connected(); }));
    for (std::uint32_t i = 0; i < 1000; ++i) {
        keep_block(1 + 10 * i);
    }
    for (std::uint64_t id = 1; id <= 10; ++id) {
        const auto first = static_cast<std::uint32_t>(1 + 1000 * (id - 1));
        EXPECT_EQ(client.sources[0]->request(request_of(id, first, 1000), now_ns), std::nullopt);
    }
    ASSERT_TRUE(until([&] { return client.answers.done.size() == 10; }));
    EXPECT_THAT(client.answers.blocks, SizeIs(1000));
    EXPECT_EQ(client.peers->clients()[0].counters.drops.sum(), 0U);
}

TEST_F(Transport, AnotherSecretIsRefusedAndReported) {
    serve();
    ask(config_of("another secret, which is long enough"));
    ASSERT_TRUE(until([&] { return reported(PeerEvent::Kind::refused, "not_authenticated"); }));
    EXPECT_TRUE(reported(PeerEvent::Kind::turned_away, "not_authenticated"));
    EXPECT_FALSE(connected());
    EXPECT_EQ(client.sources[0]->request(request_of(1, 1, 1), now_ns),
              feed::Refusal::not_connected);
    EXPECT_EQ(server.peers->server()->counters().refusals.read(PeerRefusal::not_authenticated), 1U);
    for (const PeerEvent& event : events) {
        EXPECT_THAT(event.text, Not(HasSubstr("another secret")));
        EXPECT_THAT(event.text, Not(HasSubstr(std::string{secret_text})));
    }
}

TEST_F(Transport, WhoIsNotListedIsNotLetIn) {
    PeerConfig config = config_of();
    config.allow = {{nic::Ipv4{0x0A00'0001}, 0xFFFF'FFFF}};
    serve(config);
    ask();
    ASSERT_TRUE(until([&] { return reported(PeerEvent::Kind::turned_away, "not configured"); }));
    ASSERT_TRUE(
        until([&] { return reported(PeerEvent::Kind::lost, "does it have this address"); }));
    EXPECT_GE(server.peers->server()->counters().counts.read(ServerCount::unlisted), 1U);
    EXPECT_EQ(server.peers->server()->counters().counts.read(ServerCount::connections), 0U);
}

TEST_F(Transport, APeerThatComesLaterIsFound) {
    port = free_port();
    ask();
    ASSERT_TRUE(until([&] { return reported(PeerEvent::Kind::lost, "cannot be reached"); }));
    serve();
    ASSERT_TRUE(until([&] { return connected(); }));
    EXPECT_EQ(client.sources[0]->request(request_of(1, 1, 1), now_ns), std::nullopt);
    server.stop();
    ASSERT_TRUE(until([&] { return !client.answers.refusals.empty(); }));
    EXPECT_EQ(client.answers.refusals[0].second, feed::Refusal::disconnected);
    EXPECT_TRUE(reported(PeerEvent::Kind::lost, "closed"));
    EXPECT_FALSE(connected());
    serve();
    ASSERT_TRUE(until([&] { return connected(); }));
}

/// A plain socket to the server.
class Stranger {
  public:
    explicit Stranger(std::uint16_t port, nic::Ipv4 from = loopback)
        : descriptor_(::socket(AF_INET, SOCK_STREAM, 0)) {
        sockaddr_in at = address(from, 0);
        EXPECT_EQ(::bind(descriptor_, reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
        at = address(loopback, port);
        EXPECT_EQ(::connect(descriptor_, reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
    }

    ~Stranger() { ::close(descriptor_); }

    Stranger(const Stranger&) = delete;
    Stranger& operator=(const Stranger&) = delete;

    void say(std::string_view text) const {
        EXPECT_EQ(::send(descriptor_, text.data(), text.size(), MSG_NOSIGNAL),
                  static_cast<ssize_t>(text.size()));
    }

    /// Reads the bytes that have arrived; true once the server has closed the connection.
    bool closed() {
        std::array<std::byte, 4096> buffer{};
        const ssize_t count = ::recv(descriptor_, buffer.data(), buffer.size(), MSG_DONTWAIT);
        if (count > 0) {
            heard_.insert(heard_.end(), buffer.begin(), buffer.begin() + count);
        }
        return count == 0 || (count < 0 && errno != EAGAIN);
    }

    /// The reason of the last `refused` frame received; nothing: none.
    [[nodiscard]] std::optional<PeerRefusal> refusal() const {
        FrameReader reader;
        reader.push(heard_);
        Frame frame;
        std::optional<PeerRefusal> reason;
        while (reader.next(frame) == FrameReader::Result::frame) {
            if (frame.type == FrameType::refused) {
                reason = parse_refused(frame.body)->reason;
            }
        }
        return reason;
    }

  private:
    static sockaddr_in address(nic::Ipv4 host, std::uint16_t port) {
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_port = htons(port);
        at.sin_addr.s_addr = htonl(host.value);
        return at;
    }

    int descriptor_;
    std::vector<std::byte> heard_;
};

TEST_F(Transport, StrangersAreReportedAndLeft) {
    serve();
    Stranger browser(port);
    browser.say("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
    ASSERT_TRUE(until([&] { return browser.closed(); }));
    EXPECT_EQ(browser.refusal(), PeerRefusal::malformed);
    Stranger silent(port);
    ASSERT_TRUE(until([&] { return silent.closed(); }, second_ns / 10));
    EXPECT_EQ(silent.refusal(), PeerRefusal::late);
    ASSERT_TRUE(until([&] { return server.peers->server()->connections() == 0; }));
}

TEST_F(Transport, OfProvenOnesOnlySoManyAreLetIn) {
    PeerConfig config = config_of();
    config.connections_max = 2;
    serve(config);
    config = config_of();
    config.connect = {{loopback, port}, {loopback, port}};
    config.listen = {};
    open(client, config, false);
    ASSERT_TRUE(until([&] {
        return std::ranges::all_of(client.peers->clients(),
                                   [](const auto& each) { return each.connected.read() == 1; });
    }));
    Stranger three(port);
    ASSERT_TRUE(until([&] { return three.closed(); }));
    EXPECT_EQ(server.peers->server()->counters().counts.read(ServerCount::crowded), 1U);
    EXPECT_EQ(server.peers->server()->counters().ends.read(SessionEnd::gave_way), 0U);
    EXPECT_TRUE(connected());
}

/// Strangers hold all connections that may be open, and reconnect whenever one is closed.
TEST_F(Transport, WhoProvesNothingKeepsNobodyOut) {
    PeerConfig config = config_of();
    config.connections_max = 8;
    serve(config);
    std::list<Stranger> strangers;
    for (unsigned tries = 0; tries != 30; ++tries) {
        while (strangers.size() < 8) {
            strangers.emplace_back(port);
        }
        ASSERT_TRUE(until([&] { return server.peers->server()->connections() == 8; }));
        ask();
        ASSERT_TRUE(until([&] { return connected(); }));
        EXPECT_TRUE(until([&] { return strangers.front().closed(); })) << "the oldest";
        EXPECT_FALSE(strangers.back().closed());
        strangers.pop_front();
        client.stop();
        ASSERT_TRUE(until([&] { return server.peers->server()->connections() == 7; }));
    }
    EXPECT_EQ(server.peers->server()->counters().ends.read(SessionEnd::gave_way), 30U);
    EXPECT_EQ(server.peers->server()->counters().counts.read(ServerCount::crowded), 0U);
    EXPECT_TRUE(reported(PeerEvent::Kind::turned_away, "closed for a newer one"));
}

TEST_F(Transport, TheAddressThatHoldsMostGivesWay) {
    PeerConfig config = config_of();
    config.connections_max = 3;
    config.allow = {{nic::Ipv4{0x7F00'0000}, 0xFF00'0000}};
    serve(config);
    const auto open = [&](std::size_t count) {
        return until([&] { return server.peers->server()->connections() == count; });
    };
    Stranger slow(port, nic::Ipv4{0x7F00'0002});
    ASSERT_TRUE(open(1));
    Stranger first(port, nic::Ipv4{0x7F00'0003});
    ASSERT_TRUE(open(2));
    Stranger second(port, nic::Ipv4{0x7F00'0003});
    ASSERT_TRUE(open(3));
    Stranger third(port, nic::Ipv4{0x7F00'0003});
    ASSERT_TRUE(until([&] { return first.closed(); }));
    EXPECT_FALSE(slow.closed()) << "older, but the only one of its address";
    EXPECT_FALSE(second.closed());
    EXPECT_FALSE(third.closed());
}

// --- TLS ---

class TransportTls : public Transport {
  protected:
    void SetUp() override {
        ASSERT_EQ(make_authority("authority"), 0);
        ASSERT_EQ(make_authority("other"), 0);
    }

    int make_authority(const std::string& name) {
        return openssl(
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 "
            "-subj /CN=" +
            name + " -keyout " + folder.path(name + ".key") + " -out " +
            folder.path(name + ".pem"));
    }

    /// A certificate signed by the given authority, in a config that trusts `trusts`.
    TlsConfig certificate_of(const std::string& name, const std::string& authority,
                             const std::string& trusts) {
        EXPECT_EQ(openssl("req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=" +
                          name + " -keyout " + folder.path(name + ".key") + " -out " +
                          folder.path(name + ".csr")),
                  0);
        EXPECT_EQ(
            openssl("x509 -req -days 1 -in " + folder.path(name + ".csr") + " -CA " +
                    folder.path(authority + ".pem") + " -CAkey " + folder.path(authority + ".key") +
                    " -CAcreateserial -out " + folder.path(name + ".pem")),
            0);
        return {folder.path(name + ".pem"), folder.path(name + ".key"),
                folder.path(trusts + ".pem")};
    }

    int openssl(const std::string& arguments) {
        return std::system(("openssl " + arguments + " 2>" + folder.path("openssl.log")).c_str());
    }

    PeerConfig with(const TlsConfig& tls) {
        PeerConfig config = config_of();
        config.tls = tls;
        return config;
    }
};

TEST_F(TransportTls, BlocksComeEncrypted) {
    serve(with(certificate_of("server", "authority", "authority")));
    ask(with(certificate_of("client", "authority", "authority")));
    ASSERT_TRUE(until([&] { return connected(); }));
    const auto block = keep_block(1);
    EXPECT_EQ(client.sources[0]->request(request_of(1, 1, 10), now_ns), std::nullopt);
    ASSERT_TRUE(until([&] { return !client.answers.done.empty(); }));
    ASSERT_THAT(client.answers.blocks, SizeIs(1));
    EXPECT_EQ(client.answers.blocks[0].second, block);
}

TEST_F(TransportTls, WhoDoesNotBeginKeepsNobodyOut) {
    PeerConfig config = with(certificate_of("server", "authority", "authority"));
    config.connections_max = 1;
    serve(config);
    Stranger silent(port);
    ASSERT_TRUE(until([&] { return server.peers->server()->connections() == 1; }));
    ask(with(certificate_of("client", "authority", "authority")));
    ASSERT_TRUE(until([&] { return connected(); }));
    EXPECT_TRUE(silent.closed());
    EXPECT_EQ(server.peers->server()->counters().ends.read(SessionEnd::gave_way), 1U);
}

TEST_F(TransportTls, AStrangersCertificateIsNotTaken) {
    serve(with(certificate_of("server", "authority", "authority")));
    ask(with(certificate_of("client", "other", "authority")));
    ASSERT_TRUE(
        until([&] { return reported(PeerEvent::Kind::turned_away, "the TLS handshake failed"); }));
    ASSERT_TRUE(until([&] { return reported(PeerEvent::Kind::lost, ""); }));
    EXPECT_TRUE(reported(PeerEvent::Kind::lost, "alert unknown ca")) << events.back().text;
    EXPECT_FALSE(connected());
}

TEST_F(TransportTls, NorIsTheServersIfAnotherAuthoritySignedIt) {
    serve(with(certificate_of("server", "other", "authority")));
    ask(with(certificate_of("client", "authority", "authority")));
    ASSERT_TRUE(until([&] { return reported(PeerEvent::Kind::lost, "TLS"); }));
    EXPECT_FALSE(connected());
}

TEST_F(TransportTls, WhoSpeaksPlainIsNotHeard) {
    serve(with(certificate_of("server", "authority", "authority")));
    ask();
    ASSERT_TRUE(until([&] { return reported(PeerEvent::Kind::refused, "late"); }, second_ns / 10));
    EXPECT_FALSE(connected());
    EXPECT_EQ(server.peers->server()->counters().counts.read(ServerCount::connections), 0U);
}

// --- files ---

std::string problem_of(const std::string& path) {
    Problems problems;
    EXPECT_EQ(read_secret("peer.secret_file", path, problems), std::nullopt);
    EXPECT_THAT(problems, SizeIs(1));
    return problems.at(0).text;
}

TEST(SecretFile, IsReadByItsOwnerAlone) {
    const Folder folder;
    for (const unsigned mode : {0600U, 0400U}) {
        Problems problems;
        const auto secret = read_secret(
            "k", folder.write("good", "\n " + std::string{secret_text} + " \n", mode), problems);
        ASSERT_TRUE(secret);
        EXPECT_THAT(problems, IsEmpty());
        EXPECT_EQ(secret->bytes().size(), secret_text.size());
        EXPECT_EQ(::unlink(folder.path("good").c_str()), 0);
    }
    for (const unsigned mode : {0644U, 0640U, 0620U, 0604U, 0601U}) {
        const std::string path = folder.write("bad", secret_text, mode);
        EXPECT_EQ(problem_of(path),
                  fmt::format("peer.secret_file: found {0} with mode {1:04o}, expected 0600 or "
                              "less, so that only its owner can read it: chmod 600 {0}",
                              path, mode));
    }
}

TEST(SecretFile, IsAFileWithASecret) {
    const Folder folder;
    EXPECT_THAT(problem_of(folder.path("none")), HasSubstr("No such file"));
    EXPECT_EQ(::mkdir(folder.path("folder").c_str(), 0700), 0);
    EXPECT_THAT(problem_of(folder.path("folder")), HasSubstr("expected a file"));
    EXPECT_THAT(problem_of(folder.write("short", "a short secret")),
                HasSubstr("a secret of 14 characters, expected 32 to 1024: openssl rand -hex 32"));
    EXPECT_THAT(problem_of(folder.write("long", std::string(2000, 'x'))),
                HasSubstr("expected 32 to 1024"));
    EXPECT_THAT(problem_of(folder.write("blank", std::string(100, '\n'))), HasSubstr("of 0 char"));
    EXPECT_THAT(problem_of(folder.write("short2", "a short secret")),
                Not(HasSubstr("a short secret")));
}

TEST(SecretFile, ATlsKeyIsGuardedLikeASecret) {
    const Folder folder;
    PeerConfig config;
    config.secret_file = folder.write("secret", secret_text);
    config.tls = {folder.write("c.pem", "no certificate"), folder.write("k.pem", "no key", 0644),
                  folder.path("none")};
    Problems problems;
    check_files(config, problems);
    std::vector<std::string> texts;
    for (const Problem& problem : problems) {
        texts.push_back(problem.text);
    }
    EXPECT_THAT(texts, Contains(HasSubstr("peer.tls.certificate: ")));
    EXPECT_THAT(texts, Contains(HasSubstr("peer.tls.key: found " + folder.path("k.pem") +
                                          " with mode 0644")));
    EXPECT_THAT(texts, Contains(HasSubstr("peer.tls.authority: ")));
}

}  // namespace
}  // namespace pinstrike::actors::peer
