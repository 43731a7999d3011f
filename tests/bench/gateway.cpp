// path: cold
//
// How many records a second the gateway makes and sends, by its parts:
//
//     bench_gateway [RUNS [FROM:TO]]
//
// "make": events become records in the queue of one client of all series, which are dropped there.
// "make, 100 clients": each of 100 clients follows 1,000 series of its own. "ring to socket":
// events are read from published memory, become records, and go over loopback to a thread that
// discards the bytes. "socket to client": records that are always the same go to a thread that
// decodes them. "make and send": events become records that go to such a thread. "without a
// gateway": a thread that does nothing else writes the bytes of such records to a TCP connection,
// and the same thread decodes them; no server can do better here. Medians of RUNS (5) with the
// lowest and the highest; of "make" by the thread's processor time. Events are made, or published,
// before the measurement. Rows that send are measured while the two processors are at the distance
// FROM:TO in nanoseconds (distance.h). A rate of 0 says that records are missing.
#include "actors/bench/published_book.h"
#include "actors/gateway/replays.h"
#include "actors/gateway/session.h"
#include "actors/gateway/socket_server.h"
#include "actors/market/feed_source.h"
#include "actors/market/market.h"
#include "config/wall_time.h"
#include "tests/actors/events.h"
#include "tests/actors/publish/publish_folder.h"
#include "tests/bench/distance.h"
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

using namespace pinstrike::actors;
using namespace pinstrike::actors::gateway;
using Clock = std::chrono::steady_clock;

constexpr std::size_t series_count = 100'000;
constexpr std::size_t events_count = 1'000'000;
constexpr std::size_t ahead = 16;
constexpr std::size_t burst = 1000;
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

using Events = std::vector<pinstrike_record>;

/// Quotes of all series, most of them of few; each states both sides of the best. Those of round 1
/// follow those of round 0.
Events make_events(std::size_t round) {
    constexpr std::int64_t distance_ns = 100;
    std::mt19937_64 random{round};
    Events events(events_count);
    const std::size_t earlier = round * events_count;
    std::int64_t now_ns = start_ns + static_cast<std::int64_t>(earlier) * distance_ns;
    for (std::size_t i = 0; i < events.size(); ++i) {
        pinstrike_record& event = events[i];
        const double place = static_cast<double>(random() % 1'000'000) / 1e6;
        const auto id = static_cast<std::uint32_t>(place * place * (series_count - 1)) + 1;
        now_ns += distance_ns;
        event = {};
        event.kind = PINSTRIKE_QUOTE;
        event.line = 1;
        event.participant = 'C';
        event.type = ' ';
        event.indicator = 'F';
        event.decimals = 2;
        event.sequence = earlier + i + 1;
        event.has_key = event.has_best = 1;
        event.key = key_of(id);
        event.exchange_ns = now_ns;
        event.receive_ns = now_ns + 20'000;
        event.stamp = (earlier + i + 1) * PINSTRIKE_STAMP_PLACE;
        const auto price = static_cast<std::int32_t>(random() % 10'000);
        event.bid = {price, 10, 2, 'C', 1, PINSTRIKE_SIDE_FRESH, 1};
        event.offer = {price + 5, 12, 2, 'N', 1, PINSTRIKE_SIDE_FRESH, 1};
    }
    return events;
}

/// Of a gateway without a recording, so no replay asks for anything.
class UnaskedFeed final : public LiveFeed {
  public:
    [[nodiscard]] InstrumentId id_of(const pinstrike_key& /*key*/) override { return 0; }

    [[nodiscard]] const LivePlaces& places() const override { return places_; }

    [[nodiscard]] std::int64_t market_ns() const override { return 0; }

  private:
    LivePlaces places_;
};

class Host final : public SessionHost {
  public:
    Host() {
        config_.queue_bytes = std::size_t{64} << 20;
        ClientKey key;
        key.user = "bench";
        key.key = key_text;
        keys_.push_back(key);
    }

    [[nodiscard]] const ClientKeys& keys() const override { return keys_; }

    [[nodiscard]] unsigned sessions_of(const std::string& /*user*/) const override { return 0; }

    [[nodiscard]] Market& market() override { return market_; }

    [[nodiscard]] ChunkPool& chunks() override { return chunks_; }

    [[nodiscard]] const GatewayConfig& config() const override { return config_; }

    [[nodiscard]] ReplayHost& replays() override { return replays_; }

    [[nodiscard]] const std::string& feed_problem() const override { return problem_; }

  private:
    ClientKeys keys_;
    GatewayConfig config_;
    std::string problem_;
    UnaskedFeed feed_;
    Replays replays_{config_, feed_};
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

/// Applies some of the events as the gateway does, and calls `often` every 1,000 events.
void apply(Host& host, const Events& events, std::size_t first, std::size_t end,
           const std::function<void()>& often) {
    for (std::size_t i = first; i < end; ++i) {
        if (i + ahead < events.size()) {
            host.market().instruments().prefetch(events[i + ahead].key.id);
        }
        static_cast<void>(host.market().apply(events[i]));
        if (i % burst == burst - 1) {
            often();
        }
    }
}

double make_for(const Events& first, const Events& second, std::size_t clients) {
    Host host;
    for (std::uint32_t id = 1; id <= series_count; ++id) {
        host.market().instruments().add(key_of(id));
    }
    std::vector<std::unique_ptr<Session>> sessions;
    for (std::size_t i = 0; i < clients; ++i) {
        sessions.push_back(
            started(host, clients == 1 ? "ALL_SYMBOLS" : fmt::format("R{:03}.OPT", i)));
    }
    const auto drain_all = [&] {
        for (auto& session : sessions) {
            drain(*session);
        }
    };
    apply(host, first, 0, first.size(), drain_all);  // sends mappings
    const double begin = pinstrike::bench::cpu_seconds();
    apply(host, second, 0, second.size(), drain_all);
    const double rate =
        static_cast<double>(second.size()) / 1e6 / (pinstrike::bench::cpu_seconds() - begin);
    std::uint64_t made = 0;
    for (const auto& session : sessions) {
        made += session->output().queue().records_appended();
    }
    drain_all();
    return made >= first.size() + second.size() ? rate : 0;
}

/// Sends a queue to one connection.
class Sender final : public SocketEvents {
  public:
    explicit Sender(OutputQueue& queue) : queue_(queue) {}

    [[nodiscard]] bool accepted(std::uint32_t connection, const std::string& /*address*/) override {
        connection_ = connection;
        connected_ = true;
        return true;
    }

    void received(std::uint32_t /*connection*/, std::span<const std::byte> /*bytes*/) override {}

    void sent(std::uint32_t /*connection*/, std::size_t count) override { queue_.sent(count); }

    void closed(std::uint32_t /*connection*/) override { connected_ = false; }

    void step(SocketServer& server) {
        const auto next = queue_.next();
        if (!server.is_sending(connection_) && !next.empty()) {
            server.send(connection_, next);
        }
        server.poll();
    }

    OutputQueue& queue_;
    std::uint32_t connection_ = 0;
    bool connected_ = false;
};

/// What a client read.
struct Read {
    std::size_t bytes = 0;
    std::size_t quotes = 0;
    std::uint64_t prices = 0;  ///< their sum, so that they are decoded
};

/// Decodes whole records, and moves the rest to the front. Returns how many bytes that is.
std::size_t decode(std::vector<char>& bytes, std::size_t count, Read& read) {
    std::size_t at = 0;
    while (at < count) {
        const std::size_t size = static_cast<unsigned char>(bytes[at]) * std::size_t{4};
        if (at + size > count) {
            break;
        }
        pinstrike::feed::dbn::ConsolidatedRecord record;
        if (size == sizeof record) {
            std::memcpy(&record, bytes.data() + at, sizeof record);
            ++read.quotes;
            read.prices += static_cast<std::uint64_t>(record.level.bid_price) +
                           static_cast<std::uint64_t>(record.level.ask_price);
        }
        at += size;
    }
    std::memmove(bytes.data(), bytes.data() + at, count - at);
    return count - at;
}

int connect_to(std::uint16_t port) {
    const int descriptor = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        std::abort();
    }
    return descriptor;
}

using Reader = Read (*)(int descriptor);

/// Reads and decodes to the end of the connection.
Read decode_all(int descriptor) {
    Read read;
    std::vector<char> bytes(std::size_t{1} << 20);
    std::size_t kept = 0;
    while (true) {
        const ssize_t count = ::read(descriptor, bytes.data() + kept, bytes.size() - kept);
        if (count <= 0) {
            ::close(descriptor);
            return read;
        }
        read.bytes += static_cast<std::size_t>(count);
        kept = decode(bytes, kept + static_cast<std::size_t>(count), read);
    }
}

/// Reads to the end of the connection. The kernel drops the bytes.
Read discard_all(int descriptor) {
    Read read;
    constexpr std::size_t part = std::size_t{1} << 20;
    while (true) {
        const ssize_t count = ::recv(descriptor, nullptr, part, MSG_TRUNC);
        if (count <= 0) {
            ::close(descriptor);
            return read;
        }
        read.bytes += static_cast<std::size_t>(count);
    }
}

constexpr std::size_t record_bytes = sizeof(pinstrike::feed::dbn::ConsolidatedRecord);

/// Sends what `put_more` puts into a queue, as long as the queue is short, until that many quotes
/// and the mappings between them are sent. 0: the client read something else.
double send(OutputQueue& queue, std::size_t records, Reader reader,
            const std::function<void()>& put_more) {
    constexpr std::size_t queue_bytes = std::size_t{4} << 20;
    pinstrike::Problems problems;
    Sender sender{queue};
    const auto server = SocketServer::open({{0x7F00'0001}, 0}, -1, 10, sender, problems);
    if (server == nullptr) {
        fmt::print(stderr, "{}\n", problems.front().text);
        std::exit(1);
    }
    Read read;
    pinstrike::bench::place_on(0);
    std::thread client{[&] {
        pinstrike::bench::place_on(1);
        read = reader(connect_to(server->port()));
    }};
    while (!sender.connected_) {
        server->poll();
    }
    const std::uint64_t before = queue.records_sent();
    const std::uint64_t bytes_before = queue.bytes_sent();
    const auto begin = Clock::now();
    while (queue.records_sent() - before < records || queue.bytes() != 0) {
        if (queue.bytes() < queue_bytes) {
            put_more();
        }
        if (queue.bytes() == 0) {
            break;  // fewer records than promised
        }
        sender.step(*server);
    }
    const double rate = rate_of(records, begin);
    server->finish(sender.connection_);
    while (sender.connected_) {
        server->poll();
    }
    client.join();
    const bool is_complete = read.bytes == queue.bytes_sent() - bytes_before &&
                             read.bytes >= records * record_bytes &&
                             (reader == discard_all || read.quotes == records);
    return is_complete ? rate : 0;
}

double send_records() {
    constexpr std::size_t records = 5'000'000;
    pinstrike::feed::dbn::ConsolidatedRecord record;
    record.header = pinstrike::feed::dbn::header_of<pinstrike::feed::dbn::ConsolidatedRecord>(
        pinstrike::feed::dbn::RecordType::cmbp_1, 30, 1, 1);
    ChunkPool chunks;
    OutputQueue queue{chunks};
    std::size_t made = 0;
    return send(queue, records, decode_all, [&] {
        for (std::size_t i = 0; i < burst && made < records; ++i, ++made) {
            queue.append_record(pinstrike::feed::dbn::bytes_of(record), 1);
        }
    });
}

double make_and_send(const Events& first, const Events& second) {
    Host host;
    for (std::uint32_t id = 1; id <= series_count; ++id) {
        host.market().instruments().add(key_of(id));
    }
    const auto session = started(host, "ALL_SYMBOLS");
    apply(host, first, 0, first.size(), [&] { drain(*session); });  // sends mappings
    drain(*session);
    std::size_t done = 0;
    return send(session->output().queue(), second.size(), decode_all, [&] {
        const std::size_t next = std::min(done + burst, second.size());
        apply(host, second, done, next, [] {});
        done = next;
    });
}

/// Without a gateway: writes bytes that are ready, with the system call that costs least.
double send_plain() {
    constexpr std::size_t chunk_records = Chunk::capacity / record_bytes;
    constexpr std::size_t chunks = 3000;
    pinstrike::feed::dbn::ConsolidatedRecord record;
    record.header = pinstrike::feed::dbn::header_of<pinstrike::feed::dbn::ConsolidatedRecord>(
        pinstrike::feed::dbn::RecordType::cmbp_1, 30, 1, 1);
    std::vector<std::byte> chunk;
    for (std::size_t i = 0; i < chunk_records; ++i) {
        const auto bytes = pinstrike::feed::dbn::bytes_of(record);
        chunk.insert(chunk.end(), bytes.begin(), bytes.end());
    }
    const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    socklen_t size = sizeof address;
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const named = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listener, named, sizeof address) != 0 || ::listen(listener, 1) != 0 ||
        ::getsockname(listener, named, &size) != 0) {
        std::abort();
    }
    Read read;
    pinstrike::bench::place_on(0);
    std::thread client{[&] {
        pinstrike::bench::place_on(1);
        read = decode_all(connect_to(ntohs(address.sin_port)));
    }};
    const int descriptor = ::accept(listener, nullptr, nullptr);
    const auto begin = Clock::now();
    for (std::size_t i = 0; i < chunks; ++i) {
        for (std::size_t at = 0; at < chunk.size();) {
            const ssize_t count =
                ::send(descriptor, chunk.data() + at, chunk.size() - at, MSG_NOSIGNAL);
            if (count <= 0) {
                std::abort();
            }
            at += static_cast<std::size_t>(count);
        }
    }
    const double rate = rate_of(chunks * chunk_records, begin);
    ::close(descriptor);
    ::close(listener);
    client.join();
    return read.quotes == chunks * chunk_records ? rate : 0;
}

/// Applies what is read from a feed as the gateway does.
class Reading final : public FeedEvents {
  public:
    explicit Reading(Market& market) : market_(market) {}

    void on_state(std::span<const pinstrike_value> values, StatePart part) override {
        static_cast<void>(market_.take_state(values, part.is_complete));
    }

    void on_event(const pinstrike_record& record) override {
        static_cast<void>(market_.apply(record));
    }

    void prefetch_ahead(std::uint32_t id) override { market_.instruments().prefetch(id); }

    void on_missed(std::uint64_t /*records*/) override {}  // the client then lacks quotes

    void on_lost(const std::string& /*why*/) override {}

  private:
    Market& market_;
};

/// Published memory with events that a gateway has not read yet, of the series of key_of().
class Published {
  public:
    static constexpr std::size_t unread_max = 500'000;

    Published() {
        pinstrike::Problems problems;
        book_ = pinstrike::actors::PublishedBook::make(
            "bench", pinstrike::actors::PublishMemory::shm, 2 * series_count, std::size_t{1} << 20,
            problems);
        if (book_ == nullptr) {
            fmt::print(stderr, "{}\n", problems.front().text);
            std::exit(1);
        }
        for (std::uint32_t id = 1; id <= series_count; ++id) {
            put(id);
        }
        publish();
        constexpr std::size_t each_call = 1024;
        for (std::size_t given = 0; given <= series_count; given += each_call) {
            book_->file->give_ids();
        }
    }

    /// Publishes quotes of series as those of make_events().
    void publish_quotes(const Events& events, std::size_t first, std::size_t count) {
        for (std::size_t i = first; i < first + count; ++i) {
            put(events[i].key.id);
        }
        publish();
    }

  private:
    void put(std::uint32_t id) {
        pinstrike::feed::Event& event = events_.emplace_back(pinstrike::test_events::quote_of(
            pinstrike::test_events::series_of(key_of(id).root, key_of(id).strike_e8 * 2 + id % 2),
            ++sequence_));
        event.header.participant = 'C';
        event.header.indicator = 'F';
        event.header.ts_exchange_ns = event.header.ts_receive_ns =
            start_ns + std::int64_t{sequence_} * 100;
    }

    void publish() {
        book_->book.on_timer(pinstrike::wall_ns());
        book_->apply(events_);
        events_.clear();
    }

    pinstrike::actors::test::PublishFolder folder_{"/dev/shm"};
    std::unique_ptr<pinstrike::actors::PublishedBook> book_;
    std::vector<pinstrike::feed::Event> events_;
    std::uint32_t sequence_ = 0;
};

double ring_to_socket(const Events& first, const Events& second) {
    Published published;
    Host host;
    Reading reading{host.market()};
    FeedSource source{"bench", {}, reading};
    source.poll(pinstrike::wall_ns());  // attaches
    const auto session = started(host, "ALL_SYMBOLS");
    for (std::size_t at = 0; at < first.size(); at += Published::unread_max) {
        published.publish_quotes(first, at, Published::unread_max);
        while (source.poll(pinstrike::wall_ns()) != 0) {
            drain(*session);  // sends mappings
        }
    }
    published.publish_quotes(second, 0, Published::unread_max);
    return send(session->output().queue(), Published::unread_max, discard_all,
                [&] { source.poll(pinstrike::wall_ns()); });
}

void print(const char* what, int runs, const std::function<double()>& measure) {
    std::vector<double> rates(static_cast<std::size_t>(runs));
    std::generate(rates.begin(), rates.end(), measure);
    pinstrike::bench::print_row(what, pinstrike::bench::spread_of(rates), "M records/s");
}

}  // namespace

int main(int count, char** arguments) {
    const int runs = count > 1 ? std::max(1, std::atoi(arguments[1])) : 5;
    pinstrike::bench::Distances distances;
    if (count > 2 && !pinstrike::bench::read(arguments[2], distances)) {
        fmt::print(stderr, "usage: bench_gateway [RUNS [FROM:TO]], nanoseconds\n");
        return 2;
    }
    pinstrike::bench::AtDistance at_distance{distances};
    const Events first = make_events(0);
    const Events second = make_events(1);
    pinstrike::bench::print_head("gateway");
    print("gateway: make, one of all", runs, [&] { return make_for(first, second, 1); });
    print("gateway: make, 100 clients", runs, [&] { return make_for(first, second, 100); });
    print("gateway: ring to socket", runs,
          [&] { return at_distance.measure([&] { return ring_to_socket(first, second); }); });
    print("gateway: socket to client", runs, [&] { return at_distance.measure(send_records); });
    print("gateway: make and send", runs,
          [&] { return at_distance.measure([&] { return make_and_send(first, second); }); });
    print("without a gateway: socket to client", runs,
          [&] { return at_distance.measure(send_plain); });
    print_distance(at_distance);
    return 0;
}
