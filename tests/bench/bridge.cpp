// path: cold
//
// How many events a second a bridge carries over loopback, with TLS 1.3, and that it ends:
//
//     bench_bridge [RUNS]
//
// "carried": two threads on two processors connect, one million quotes of 100,000 series are
// published on the serving side, carried, applied and published again on the joining side; then
// both sides end as agreed. The time is from their publication, which the serving thread does
// before, to the last one that is published again.
//
// "connect, state, end" is the time of the rest: handshake, state of all series, and the clean end
// of both sides.
//
// "feed beside a joining side that has stopped" is the time in which the feed publishes four
// million quotes while a bridge serves it and the other side takes nothing, as a ratio to the mean
// of the time without a bridge before and after.
//
// Medians of RUNS (5) with the lowest and the highest. A rate of 0 says that events are missing, or
// that a side did not end.
#include "actors/book/book.h"
#include "actors/bridge/bridge_client.h"
#include "actors/bridge/bridge_server.h"
#include "actors/runtime/executor_thread.h"
#include "config/time_units.h"
#include "config/wall_time.h"
#include "tests/actors/events.h"
#include "tests/actors/publish/publish_folder.h"
#include "tests/bench/distance.h"
#include "tests/bench/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace pinstrike;
using namespace pinstrike::actors;
using namespace pinstrike::actors::bridge;
using Clock = std::chrono::steady_clock;

constexpr std::size_t series_count = 100'000;
constexpr std::size_t events_count = 1'000'000;
constexpr std::size_t burst = 256;
constexpr double patience_s = 30;
constexpr std::int64_t start_ns = 1'795'000'000'000'000'000;

double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::vector<feed::Event> make_events() {
    std::mt19937_64 random{1};
    std::vector<feed::Event> events;
    events.reserve(events_count);
    for (std::size_t i = 0; i < events_count; ++i) {
        const auto series = pinstrike::test_events::series_of(
            "SPX", static_cast<std::int64_t>(1 + random() % series_count) * 100'000'000);
        feed::Event event =
            pinstrike::test_events::quote_of(series, static_cast<std::uint32_t>(i + 1));
        event.header.indicator = 'F';
        event.header.code = 'B';
        event.header.ts_receive_ns = start_ns + static_cast<std::int64_t>(i) * 100;
        events.push_back(event);
    }
    return events;
}

/// Certificates that both sides trust.
peer::TlsConfig make_certificate(const std::string& folder) {
    const std::string command =
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "
        "/CN=bench -keyout " +
        folder + "/key -out " + folder + "/pem 2>/dev/null";
    if (std::system(command.c_str()) != 0) {
        fmt::print(stderr, "bench_bridge: openssl makes no certificate\n");
        std::exit(1);
    }
    return {folder + "/pem", folder + "/key", folder + "/pem"};
}

struct Times {
    double carried = 0;  ///< seconds of the events; 0: some are missing
    double rest = 0;
};

/// A feed of one core whose stream holds all events.
class Feed {
  public:
    Feed() {
        const BookConfig config{.series_capacity = series_count + 1000};
        MemoryPlan plan{
            .feed = "bench", .cores = {"core0"}, .nodes = {}, .shape = book_shape(config, 1)};
        plan.shape.stream_records = std::size_t{1} << 20;
        Problems problems;
        file_ = MemoryFile::make(plan, problems);
        if (file_ == nullptr) {
            fmt::print(stderr, "bench_bridge: {}\n", problems.front().text);
            std::exit(1);
        }
        book_ = std::make_unique<Book>(config, file_->core(0));
        book_->on_start({});
        book_->on_timer(wall_ns());
        file_->set_live();
    }

    void publish(const std::vector<feed::Event>& events) {
        for (std::size_t at = 0; at < events.size(); at += burst) {
            book_->on_events(
                EventBatch{std::span{events}.subspan(at, std::min(burst, events.size() - at))});
        }
    }

  private:
    std::unique_ptr<MemoryFile> file_;
    std::unique_ptr<Book> book_;
};

void ignore(BridgeNote /*note*/, const std::string& /*subject*/, const std::string& /*text*/) {}

void open(BridgeServer& server, BridgeClient& client, const peer::TlsConfig& tls) {
    Problems problems;
    if (!server.open("127.0.0.1:0", tls, problems) ||
        !client.open(fmt::format("127.0.0.1:{}", server.port()), tls, problems)) {
        fmt::print(stderr, "bench_bridge: {}\n", problems.front().text);
        std::exit(1);
    }
}

/// The joining side runs in this thread, the serving side in another, which also publishes.
Times carry(const std::vector<feed::Event>& events, const peer::TlsConfig& tls) {
    Feed feed;
    feed.publish({events.begin(), events.begin() + series_count});
    BridgeServer server{"bench", 1, ignore};
    BridgeClient client{JoinConfig{.name = "bench-copy"}, ignore};
    open(server, client, tls);
    // Each flag orders what one thread does after the other has set it.
    std::atomic<bool> publishes{false};
    std::atomic<bool> published{false};
    std::atomic<bool> ended{false};
    const auto begin = Clock::now();
    auto sent_at = begin;  // written before `published` is set, and read after it
    Times times;
    std::thread serving{[&] {
        pinstrike::bench::place_on(1);
        while (seconds_since(begin) < patience_s) {
            if (!published.load() && publishes.load()) {
                feed.publish(events);
                sent_at = Clock::now();
                published.store(true);
            }
            server.step(runtime::steady_ns());
            if (published.load() && server.connections() == 0) {
                ended.store(true);
                return;
            }
        }
    }};
    while (seconds_since(begin) < patience_s && !client.is_over()) {
        client.step(runtime::steady_ns());
        if (client.is_live() && !publishes.load()) {
            publishes.store(true);
        }
        if (times.carried == 0 && published.load() &&
            client.counters().read(JoinCount::published) == events.size()) {
            times.carried = seconds_since(sent_at);
            client.leave();
        }
    }
    serving.join();
    const bool whole = ended.load() && client.joiner().carried().balances() &&
                       client.counters().read(JoinCount::missed) == 0;
    times.rest = seconds_since(begin) - times.carried;
    times.carried = whole ? times.carried : 0;
    return times;
}

/// A feed whose bridge has a joining side that is live and then takes nothing, or no bridge.
double seconds_to_publish(const std::vector<feed::Event>& events, const peer::TlsConfig& tls,
                          bool bridged) {
    Feed feed;
    feed.publish({events.begin(), events.begin() + series_count});
    BridgeServer server{"bench", 1, ignore};
    BridgeClient client{JoinConfig{.name = "bench-copy"}, ignore};
    // Set by one thread and read by the other; it orders no other data.
    std::atomic<bool> serves{bridged};
    std::thread serving;
    if (bridged) {
        open(server, client, tls);
        serving = std::thread{[&] {
            pinstrike::bench::place_on(1);
            while (serves.load(std::memory_order_relaxed)) {
                if (server.step(runtime::steady_ns()) == 0) {
                    server.wait(ms_ns);
                }
            }
        }};
        const auto begin = Clock::now();
        while (!client.is_live()) {
            if (seconds_since(begin) > patience_s) {
                fmt::print(stderr, "bench_bridge: the joining side is not live\n");
                std::exit(1);
            }
            client.step(runtime::steady_ns());
        }
    }
    // At first the serving side reads, until the credit is used up. What it has read is in the
    // cache of its processor, so the next round takes longer once.
    constexpr int rounds_before = 2;
    constexpr int rounds = 4;
    for (int i = 0; i < rounds_before; ++i) {
        feed.publish(events);
    }
    const auto begin = Clock::now();
    for (int i = 0; i < rounds; ++i) {
        feed.publish(events);
    }
    const double seconds = seconds_since(begin);
    serves.store(false, std::memory_order_relaxed);
    if (serving.joinable()) {
        serving.join();
    }
    return seconds;
}

}  // namespace

int main(int count, char** arguments) {
    std::signal(SIGPIPE, SIG_IGN);
    const int runs = count > 1 ? std::max(1, std::atoi(arguments[1])) : 5;
    pinstrike::bench::place_on(0);
    const pinstrike::actors::test::PublishFolder folder{"/dev/shm"};
    const peer::TlsConfig tls = make_certificate(folder.path());
    const std::vector<feed::Event> events = make_events();
    std::vector<double> rates;
    std::vector<double> rests;
    std::vector<double> ratios;
    for (int i = 0; i < runs; ++i) {
        const Times times = carry(events, tls);
        rests.push_back(times.rest);
        rates.push_back(times.carried == 0 ? 0 : events_count / times.carried / 1e6);
        constexpr int trials = 3;
        double before = seconds_to_publish(events, tls, false);
        for (int trial = 0; trial < trials; ++trial) {
            const double beside = seconds_to_publish(events, tls, true);
            const double after = seconds_to_publish(events, tls, false);
            ratios.push_back(2 * beside / (before + after));
            before = after;
        }
    }
    pinstrike::bench::print_head("bridge");
    pinstrike::bench::print_row("bridge: carried over loopback with TLS",
                                pinstrike::bench::spread_of(rates), "M events/s");
    pinstrike::bench::print_row("bridge: connect, state of 100,000 series, end",
                                pinstrike::bench::spread_of(rests), "s");
    pinstrike::bench::print_row("bridge: feed beside a joining side that has stopped",
                                pinstrike::bench::spread_of(ratios), "of alone");
    return 0;
}
