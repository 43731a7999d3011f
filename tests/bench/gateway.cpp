// path: cold
//
// How many records a second the gateway makes and sends, by its parts:
//
//     bench_gateway [RUNS]
//
// "make": events become records in the queue of one client of all series, which are dropped there.
// "make, 100 clients": each of 100 clients follows 1,000 series of its own. "send": the bytes of a
// queue go over loopback to a thread that counts them. Medians of RUNS (5) with the lowest and the
// highest; of "make" by the thread's processor time. Events are made before the measurement.
#include "actors/gateway/market.h"
#include "actors/gateway/session.h"
#include "actors/gateway/socket_server.h"
#include "tests/bench/measure.h"

#include <fmt/core.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace pinstrike::actors::gateway;
using Clock = std::chrono::steady_clock;

constexpr std::size_t series_count = 100'000;
constexpr std::size_t events_count = 1'000'000;
constexpr std::size_t ahead = 16;
constexpr std::int64_t start_ns = 1'795'000'000'000'000'000;
constexpr const char* key_text = "db-0123456789abcdef0123456789abc";

pinstrike_key key_of(std::uint32_t id) {
    pinstrike_key key{};
    const std::string root = fmt::format("R{:03}", id / 1000);
    root.copy(key.root, sizeof key.root - 1);
    key.right = id % 2 == 0 ? 'C' : 'P';
    key.expiration = 20261218;
    key.id = id;
    key.strike_e8 = std::int64_t{id % 1000 + 1} * 100'000'000;
    return key;
}

/// Quotes of all series, most of them of few; each states both sides of the best.
std::vector<pinstrike_record> make_events() {
    std::mt19937_64 random{1};
    std::vector<pinstrike_record> events(events_count);
    std::int64_t now_ns = start_ns;
    for (std::size_t i = 0; i < events.size(); ++i) {
        pinstrike_record& event = events[i];
        const double place = static_cast<double>(random() % 1'000'000) / 1e6;
        const auto id = static_cast<std::uint32_t>(place * place * (series_count - 1)) + 1;
        now_ns += 100;
        event = {};
        event.kind = PINSTRIKE_QUOTE;
        event.line = 1;
        event.participant = 'C';
        event.type = ' ';
        event.indicator = 'F';
        event.decimals = 2;
        event.sequence = i + 1;
        event.has_key = event.has_best = 1;
        event.key = key_of(id);
        event.exchange_ns = now_ns;
        event.receive_ns = now_ns + 20'000;
        event.stamp = (i + 1) * PINSTRIKE_STAMP_PLACE;
        const auto price = static_cast<std::int32_t>(random() % 10'000);
        event.bid = {price, 10, 2, 'C', 1, PINSTRIKE_SIDE_FRESH, 1};
        event.offer = {price + 5, 12, 2, 'N', 1, PINSTRIKE_SIDE_FRESH, 1};
    }
    return events;
}

class Host final : public SessionHost {
  public:
    Host() {
        ClientKey key;
        key.user = "bench";
        key.key = key_text;
        keys_.push_back(key);
    }

    [[nodiscard]] const ClientKeys& keys() const override { return keys_; }

    [[nodiscard]] unsigned sessions_of(const std::string& /*user*/) const override { return 0; }

    [[nodiscard]] Market& market() override { return market_; }

    [[nodiscard]] ChunkPool& chunks() override { return chunks_; }

    [[nodiscard]] std::size_t queue_bytes() const override { return std::size_t{64} << 20; }

  private:
    ClientKeys keys_;
    Market market_;
    ChunkPool chunks_;
};

std::size_t drain(Session& session) {
    std::size_t bytes = 0;
    while (true) {
        const auto next = session.output().queue().next();
        if (next.empty()) {
            return bytes;
        }
        bytes += next.size();
        session.output().queue().sent(next.size());
    }
}

std::unique_ptr<Session> started(Host& host, const std::string& symbols) {
    auto session = std::make_unique<Session>(host, SessionOrigin{1, "127.0.0.1", start_ns});
    const auto greeting = session->output().queue().next();
    const std::string text{reinterpret_cast<const char*>(greeting.data()), greeting.size()};
    const std::string challenge = text.substr(text.find("cram=") + 5, challenge_bytes);
    drain(*session);
    session->read("auth=" + answer_of(challenge, key_text) +
                      "|dataset=OPRA.PILLAR|encoding=dbn|slow_reader_behavior=warn\n",
                  start_ns);
    session->read(
        "schema=cmbp-1|stype_in=parent|symbols=" + symbols + "|is_last=1\nstart_session\n",
        start_ns);
    drain(*session);
    return session;
}

/// Millions of records a second.
double rate_of(std::size_t records, Clock::time_point begin) {
    return static_cast<double>(records) / 1e6 /
           std::chrono::duration<double>(Clock::now() - begin).count();
}

double make_for(const std::vector<pinstrike_record>& events, std::size_t clients) {
    Host host;
    for (std::uint32_t id = 1; id <= series_count; ++id) {
        host.market().instruments().add(key_of(id));
    }
    std::vector<std::unique_ptr<Session>> sessions;
    for (std::size_t i = 0; i < clients; ++i) {
        sessions.push_back(
            started(host, clients == 1 ? "ALL_SYMBOLS" : fmt::format("R{:03}.OPT", i)));
    }
    double rate = 0;
    for (int turn = 0; turn < 2; ++turn) {  // the first one sends mappings
        const double begin = pinstrike::bench::cpu_seconds();
        for (std::size_t i = 0; i < events.size(); ++i) {
            if (i + ahead < events.size()) {  // as the gateway does
                host.market().instruments().prefetch(events[i + ahead].key.id);
            }
            static_cast<void>(host.market().apply(events[i]));
            if (i % 1024 == 1023) {
                for (auto& session : sessions) {
                    drain(*session);
                }
            }
        }
        rate = static_cast<double>(events.size()) / 1e6 / (pinstrike::bench::cpu_seconds() - begin);
        for (auto& session : sessions) {
            drain(*session);
        }
    }
    return rate;
}

/// Sends what it is asked to one connection.
class Sender final : public SocketEvents {
  public:
    [[nodiscard]] bool accepted(std::uint32_t connection, const std::string& /*address*/) override {
        connection_ = connection;
        connected_ = true;
        return true;
    }

    void received(std::uint32_t /*connection*/, std::span<const std::byte> /*bytes*/) override {}

    void sent(std::uint32_t /*connection*/, std::size_t count) override { queue_.sent(count); }

    void closed(std::uint32_t /*connection*/) override { connected_ = false; }

    ChunkPool chunks_;
    OutputQueue queue_{chunks_};
    std::uint32_t connection_ = 0;
    bool connected_ = false;
};

/// Reads all bytes until the end, and returns how many.
std::size_t read_all(std::uint16_t port) {
    const int descriptor = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        std::abort();
    }
    std::vector<char> bytes(std::size_t{1} << 20);
    std::size_t all = 0;
    for (ssize_t count = 1; count > 0;) {
        count = ::read(descriptor, bytes.data(), bytes.size());
        all += count > 0 ? static_cast<std::size_t>(count) : 0;
    }
    ::close(descriptor);
    return all;
}

double send_records() {
    constexpr std::size_t records = 5'000'000;
    pinstrike::Problems problems;
    Sender sender;
    const auto server = SocketServer::open("127.0.0.1", 0, -1, 10, sender, problems);
    if (server == nullptr) {
        fmt::print(stderr, "{}\n", problems.front().text);
        std::exit(1);
    }
    std::size_t received = 0;
    std::thread reader{[&] { received = read_all(server->port()); }};
    while (!sender.connected_) {
        server->poll();
    }
    pinstrike::feed::dbn::ConsolidatedRecord record;
    record.header = pinstrike::feed::dbn::header_of<pinstrike::feed::dbn::ConsolidatedRecord>(
        pinstrike::feed::dbn::RecordType::cmbp_1, 30, 1, 1);
    const auto begin = Clock::now();
    std::size_t made = 0;
    while (sender.queue_.records_sent() < records) {
        for (int i = 0; i < 1024 && made < records && sender.queue_.bytes() < (4U << 20);
             ++i, ++made) {
            sender.queue_.append_record(pinstrike::feed::dbn::bytes_of(record), 1);
        }
        const auto next = sender.queue_.next();
        if (!server->is_sending(sender.connection_) && !next.empty()) {
            server->send(sender.connection_, next);
        }
        server->poll();
    }
    const double rate = rate_of(records, begin);
    server->abort(sender.connection_);
    while (sender.connected_) {
        server->poll();
    }
    reader.join();
    return received == records * sizeof record ? rate : 0;
}

void print(const char* what, int runs, const std::function<double()>& measure) {
    std::vector<double> rates;
    for (int run = 0; run < runs; ++run) {
        rates.push_back(measure());
    }
    std::sort(rates.begin(), rates.end());
    fmt::print("{:<22} {:6.2f} M records/s ({:.2f} to {:.2f})\n", what, rates[rates.size() / 2],
               rates.front(), rates.back());
}

}  // namespace

int main(int count, char** arguments) {
    const int runs = count > 1 ? std::max(1, std::atoi(arguments[1])) : 5;
    const std::vector<pinstrike_record> events = make_events();
    print("make, one of all", runs, [&] { return make_for(events, 1); });
    print("make, 100 clients", runs, [&] { return make_for(events, 100); });
    print("send, loopback", runs, [] { return send_records(); });
    return 0;
}
