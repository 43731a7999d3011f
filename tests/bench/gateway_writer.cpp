// path: cold
//
// Publishes quotes at an even rate on one thread, so that the time that a gateway adds can be
// measured where a feed and a gateway would share processors:
//
//     bench_gateway_writer FEED QUOTES_PER_SECOND SECONDS
//
// Quotes are received when they are published. It sleeps between bursts of 50 us.
#include "actors/bench/published_book.h"
#include "config/print_problems.h"
#include "config/wall_time.h"
#include "tests/actors/events.h"

#include <sys/prctl.h>
#include <time.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

namespace {

using namespace pinstrike;

constexpr std::int64_t series_count = 10'000;
constexpr std::size_t stream_records = std::size_t{1} << 19;
constexpr std::int64_t burst_ns = 50'000;
constexpr std::int64_t timer_ns = 100'000'000;

class Writer {
  public:
    Writer(actors::PublishedBook& published, std::int64_t quotes_per_second)
        : published_(published), quotes_per_second_(quotes_per_second) {}

    /// Publishes what is due `since_ns` after the start.
    void publish(std::int64_t since_ns) {
        const std::int64_t now_ns = wall_ns();
        const std::int64_t due = since_ns * quotes_per_second_ / 1'000'000'000;
        events_.clear();
        for (; written_ < due; ++written_) {
            const auto number = static_cast<std::uint32_t>(written_ + 1);
            const std::int64_t strike = 1 + number * std::int64_t{7919} % series_count;
            feed::Event& event = events_.emplace_back(
                test_events::quote_of(test_events::series_of("SPY", strike), number));
            event.header.participant = 'C';
            event.header.indicator = 'F';
            event.header.ts_exchange_ns = event.header.ts_receive_ns = now_ns;
        }
        published_.apply(events_);
        published_.file->wake_readers();
        published_.file->give_ids();
        if (now_ns - timer_ns_ >= timer_ns) {
            timer_ns_ = now_ns;
            published_.book.on_timer(now_ns);
        }
    }

  private:
    actors::PublishedBook& published_;
    std::int64_t quotes_per_second_;
    std::int64_t written_ = 0;
    std::int64_t timer_ns_ = 0;
    std::vector<feed::Event> events_;
};

}  // namespace

int main(int count, char** arguments) {
    if (count != 4) {
        std::fputs("bench_gateway_writer FEED QUOTES_PER_SECOND SECONDS\n", stderr);
        return 2;
    }
    Problems problems;
    const auto published = actors::PublishedBook::make(arguments[1], actors::PublishMemory::shm,
                                                       2 * series_count, stream_records, problems);
    if (published == nullptr) {
        print_problems(problems);
        return 1;
    }
    ::prctl(PR_SET_TIMERSLACK, 1);
    Writer writer{*published, std::atoll(arguments[2])};
    timespec start{};
    ::clock_gettime(CLOCK_MONOTONIC, &start);
    const std::int64_t end_ns = std::atoll(arguments[3]) * 1'000'000'000;
    for (std::int64_t since_ns = burst_ns; since_ns < end_ns; since_ns += burst_ns) {
        const std::int64_t at_ns = start.tv_nsec + since_ns;
        const timespec at{start.tv_sec + at_ns / 1'000'000'000, at_ns % 1'000'000'000};
        ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr);
        writer.publish(since_ns);
    }
    return 0;
}
