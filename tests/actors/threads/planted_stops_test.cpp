// path: cold
//
// The detector of preemption with a real clock. A signal interrupts the thread, and the signal's
// handler runs as long as a preemption by a hypervisor lasts; the thread also has slow handlers of
// its own. The test compares the detected intervals with the planted ones. Real preemption does no
// harm.
#include "actors/core/core.h"
#include "tests/actors/events.h"

#include <gtest/gtest.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <memory>
#include <utility>
#include <vector>

namespace pinstrike::actors {
namespace {

struct Interval {
    std::int64_t begin_ns;
    std::int64_t end_ns;

    [[nodiscard]] bool overlaps(const Interval& other) const {
        return begin_ns < other.end_ns && other.begin_ns < end_ns;
    }

    [[nodiscard]] bool covers(const Interval& other) const {
        return begin_ns <= other.begin_ns && other.end_ns <= end_ns;
    }
};

constexpr std::int64_t interruption_ns = 60'000;
constexpr std::int64_t slow_handler_ns = 80'000;
constexpr std::size_t interruptions_wanted = 400;

/// The program's clock as a signal handler may read it.
std::int64_t monotonic_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

Interval spin_for(std::int64_t ns) {
    const std::int64_t begin_ns = monotonic_ns();
    while (monotonic_ns() < begin_ns + ns) {
    }
    return {begin_ns, monotonic_ns()};
}

std::array<Interval, interruptions_wanted> interruptions;
std::atomic<std::size_t> interruptions_count{0};  // relaxed: handler and reader are one thread

void interrupt(int /*signal*/) {
    const std::size_t i = interruptions_count.load(std::memory_order_relaxed);
    if (i < interruptions.size()) {
        interruptions[i] = spin_for(interruption_ns);
        interruptions_count.store(i + 1, std::memory_order_relaxed);
    }
}

/// Interrupts this process every two milliseconds.
class Interrupter {
  public:
    Interrupter() {
        struct sigaction action {};

        action.sa_handler = interrupt;
        action.sa_flags = SA_RESTART;
        sigaction(SIGALRM, &action, &before_);
        const timeval period{0, 2'000};
        const itimerval timer{period, period};
        setitimer(ITIMER_REAL, &timer, nullptr);
    }

    ~Interrupter() {
        const itimerval off{};
        setitimer(ITIMER_REAL, &off, nullptr);
        sigaction(SIGALRM, &before_, nullptr);
    }

    Interrupter(const Interrupter&) = delete;
    Interrupter& operator=(const Interrupter&) = delete;

  private:
    struct sigaction before_ {};
};

class SlowActor final : public Actor {
  public:
    [[nodiscard]] std::string_view name() const override { return "slow"; }

    void on_events(EventBatch /*batch*/) override { worked.push_back(spin_for(slow_handler_ns)); }

    void on_timer(std::int64_t /*now_ns*/) override { ++asked; }

    std::size_t on_idle() override {
        ++asked;
        return 0;
    }

    std::uint64_t asked = 0;  ///< a turn with such a call may be long for that reason

    std::vector<Interval> worked;
};

struct Found {
    std::vector<Interval> stops;  ///< steps that the core counted as preemption
    std::vector<Interval> idle;   ///< long steps without work
    std::vector<Interval> worked;
    std::uint64_t counted = 0;  ///< preemptions, by the core
};

/// A core that gets a message every 370 us, until all interruptions have come.
Found run_interrupted() {
    auto halves = Ring<feed::Event>::make(1024);
    std::vector<Consumer<feed::Event>> rings;
    rings.push_back(std::move(halves.consumer));
    auto actor = std::make_unique<SlowActor>();
    const SlowActor& slow = *actor;
    actor->worked.reserve(100'000);
    std::vector<std::unique_ptr<Actor>> actors;
    actors.push_back(std::move(actor));
    Core core(CoreOptions{}, std::move(rings), std::move(actors));
    core.start();

    Found found;
    std::int64_t last_ns = monotonic_ns();
    std::int64_t due_ns = last_ns;
    std::uint32_t sequence = 0;
    bool acted = false;
    const Interrupter interrupter;
    while (interruptions_count.load(std::memory_order_relaxed) < interruptions_wanted) {
        const std::int64_t now_ns = monotonic_ns();
        if (now_ns >= due_ns) {
            feed::Event event = test_events::quote_of(test_events::series_of("A"), ++sequence);
            event.header.ts_receive_ns = now_ns;
            EXPECT_TRUE(halves.producer.try_push(std::vector{event}));
            due_ns = now_ns + 370'000;
        }
        const std::uint64_t asked_before = slow.asked;
        const bool acted_before = acted;
        acted = core.step(now_ns) != 0 || slow.asked != asked_before;
        const std::uint64_t stalled_until_ns = core.counters().stalled_until_ns.read();
        if (!acted_before && now_ns - last_ns >= LoopClock::preemption_ns_min) {
            found.idle.push_back({last_ns, now_ns});
            if (stalled_until_ns == static_cast<std::uint64_t>(now_ns)) {
                found.stops.push_back(found.idle.back());
            }
        }
        last_ns = now_ns;
    }
    found.worked = slow.worked;
    found.counted = core.counters().preemptions_ns.snapshot().count;
    return found;
}

TEST(PlantedStops, are_found_while_the_thread_is_idle_and_slow_handlers_never_are) {
    const Found found = run_interrupted();
    ASSERT_GT(found.worked.size(), 0U);
    EXPECT_EQ(found.counted, found.stops.size()) << "a step in which somebody acted was called one";
    for (const Interval& stop : found.stops) {
        for (const Interval& worked : found.worked) {
            ASSERT_FALSE(stop.overlaps(worked)) << "a slow handler was called a stop";
        }
    }
    const auto covered = [](const std::vector<Interval>& turns, const Interval& planted) {
        return std::any_of(turns.begin(), turns.end(),
                           [&](const Interval& turn) { return turn.covers(planted); });
    };
    std::size_t hit_idle = 0;
    std::size_t found_count = 0;
    for (const Interval& planted : interruptions) {
        hit_idle += covered(found.idle, planted) ? 1 : 0;
        found_count += covered(found.stops, planted) ? 1 : 0;
    }
    RecordProperty("planted", static_cast<int>(interruptions.size()));
    RecordProperty("hit_idle", static_cast<int>(hit_idle));
    RecordProperty("found", static_cast<int>(found_count));
    if (hit_idle == 0) {
        GTEST_SKIP() << "each turn takes so long here that an actor is asked in it";
    }
    EXPECT_EQ(found_count, hit_idle);
}

}  // namespace
}  // namespace pinstrike::actors
