// The figures of an actor while it runs, with a clock that the test sets.
#include "actors/runtime/figures.h"

#include "actors/runtime/executor_thread.h"
#include "actors/runtime/figures_text.h"
#include "tests/actors/runtime/cast.h"

#include <gtest/gtest.h>

namespace pinstrike::actors::runtime {
namespace {

constexpr std::uint64_t every = ActorMeasurements::sample_every;

std::int64_t time_ns = 0;
int readings = 0;

std::int64_t moved_clock() {
    ++readings;
    return time_ns;
}

/// An actor whose handler takes `takes_ns`.
class Figures : public testing::Test {
  protected:
    Figures() {
        time_ns = 1'000;
        readings = 0;
        keeper.then = [this](Item&) { time_ns += takes_ns; };
    }

    void publish(int messages) {
        for (int i = 0; i < messages; ++i) {
            ASSERT_EQ(sender.send({}), Sent::sent);
        }
        sender.flush();
    }

    [[nodiscard]] ActorReading look() const { return read(*keeper.figures(), time_ns); }

    std::int64_t takes_ns = 8;
    Executor executor{{.budget = 100, .linger = 0, .clock_ns = moved_clock}};
    Keeper& keeper = executor.add<Keeper>(Bounds{.most = 10'000});
    Sender<Item> sender = keeper.items.sender();
};

TEST_F(Figures, exist_where_the_core_has_a_clock) {
    EXPECT_NE(keeper.figures(), nullptr);
    Executor other;
    EXPECT_EQ(other.add<Keeper>().figures(), nullptr);
}

TEST_F(Figures, service_is_the_mean_of_an_activation_and_counts_for_each_message) {
    publish(20);
    executor.step(0);
    const auto service = look().service_ns;
    EXPECT_EQ(service.count, 20U);
    EXPECT_EQ(service.sum_ns, 20U * 8U);
    EXPECT_EQ(service.highest_ns, 8U);
    EXPECT_EQ(look().handled, 20U);
}

TEST_F(Figures, waiting_is_from_publication_to_the_turn_of_the_message) {
    publish(5);
    time_ns += 300;
    executor.step(0);
    const auto waiting = look().waiting_ns;
    EXPECT_EQ(waiting.count, 5U) << "all that was published with it";
    EXPECT_EQ(waiting.highest_ns, 300U);
}

TEST_F(Figures, waiting_behind_others_is_waiting) {
    publish(1);
    executor.step(0);  // the first stamp
    for (std::uint64_t i = 1; i < every; ++i) {
        publish(1);  // without a stamp
    }
    time_ns += 1'000;
    publish(2);  // with a stamp, behind all of these
    executor.step(0);
    const auto waiting = look().waiting_ns;
    EXPECT_EQ(waiting.count, 1U + 2U);
    EXPECT_EQ(waiting.highest_ns, (every - 1) * 8U);
}

TEST_F(Figures, one_stamp_at_a_time_is_on_its_way) {
    for (std::uint64_t i = 0; i < 3 * every; ++i) {
        publish(1);
        time_ns += 1;
    }
    executor.drain(0);
    EXPECT_EQ(look().waiting_ns.count, 1U);
    for (std::uint64_t i = 0; i < every; ++i) {
        publish(1);
    }
    executor.drain(0);
    EXPECT_EQ(look().waiting_ns.count, 2U);
}

TEST_F(Figures, no_message_costs_a_reading_of_the_clock) {
    constexpr std::uint64_t count = 100 * every;
    for (std::uint64_t i = 0; i < count; ++i) {
        publish(1);
        executor.step(0);
    }
    // The clock is read twice for each timed activation, once for each stamp, and once when the
    // stamp is read.
    EXPECT_EQ(readings, static_cast<int>(4 * count / every));
    EXPECT_EQ(look().handled, count);
    EXPECT_EQ(look().service_ns.count, count / every);
    EXPECT_EQ(look().waiting_ns.count, count / every);
    readings = 0;
    for (int i = 0; i < 10; ++i) {
        publish(static_cast<int>(every));  // several in an activation
        executor.step(0);
    }
    EXPECT_LE(readings, 4);
}

TEST_F(Figures, what_was_handled_and_what_waits_has_arrived) {
    const ActorReading before = look();
    publish(150);
    executor.step(0);
    EXPECT_EQ(look().handled, 100U);
    EXPECT_EQ(look().backlog, 50U);
    time_ns = before.at_ns + 1'000'000;
    const ActorRates rates = since(look(), before);
    EXPECT_DOUBLE_EQ(rates.handled_per_second, 100e3);
    EXPECT_DOUBLE_EQ(rates.arrivals_per_second, 150e3);
    EXPECT_DOUBLE_EQ(rates.busy, 100.0 * 8 / 1'000'000);
    executor.drain(0);
    EXPECT_EQ(look().backlog, 0U) << "it has fallen asleep";
}

TEST_F(Figures, an_actor_that_waits_for_room_has_a_backlog) {
    Executor other{asleep_at_once};
    auto& slow = other.add<Keeper>(Bounds{.most = 2, .when_full = WhenFull::wait});
    Sender<Item> on = slow.items.sender(keeper);
    keeper.then = [&on](Item& item) { static_cast<void>(on.send(item)); };
    publish(40);
    executor.drain(0);
    EXPECT_LT(look().handled, 40U);
    EXPECT_EQ(look().handled + look().backlog, 40U);
    for (int i = 0; i < 100; ++i) {
        other.drain(0);
        executor.drain(0);
    }
    EXPECT_EQ(look().handled, 40U);
    EXPECT_EQ(look().backlog, 0U);
}

TEST_F(Figures, are_reported_as_a_table_of_what_happened_since_the_last_one) {
    FiguresText text;
    text.add("keeper", keeper.figures(), time_ns);
    text.add("quiet", nullptr, time_ns);
    const std::int64_t begun_ns = time_ns;
    publish(150);
    executor.step(0);
    time_ns = begun_ns + 1'000'000;
    EXPECT_EQ(text.table(time_ns),
              "actor              arrivals/s    handled/s   backlog wait p50   p99 us serv p50   "
              "p99 us   busy\n"
              "keeper                 150000       100000        50     0.00     0.00    0.008    "
              "0.008    0 %\n"
              "quiet            its executor has no clock: not measured\n");
    time_ns += 1'000'000;
    EXPECT_NE(text.table(time_ns).find("keeper                      0            0        50"),
              std::string::npos);
}

TEST_F(Figures, are_reported_as_metrics_since_the_start) {
    FiguresText text;
    text.add("a \"keeper\"", keeper.figures(), time_ns);
    publish(150);
    executor.step(0);
    EXPECT_TRUE(text.metrics("own_").starts_with(
        "# HELP own_runtime_actor_handled_total Messages and timers handled\n"
        "# TYPE own_runtime_actor_handled_total counter\n"
        "own_runtime_actor_handled_total{actor=\"a \\\"keeper\\\"\"} 100\n"
        "# HELP own_runtime_actor_backlog_messages Messages published"))
        << text.metrics("own_");
    EXPECT_NE(text.metrics().find("\nruntime_actor_service_seconds_sum{actor=\"a \\\"keeper\\\"\"} "
                                  "0.000000800\n"
                                  "runtime_actor_service_seconds_count{actor=\"a \\\"keeper\\\"\"} "
                                  "100\n"),
              std::string::npos);
    EXPECT_NE(text.metrics().find("{actor=\"a \\\"keeper\\\"\",quantile=\"0.99\"} 0.000000008\n"),
              std::string::npos);
}

TEST(FiguresOfThreads, are_read_while_messages_come) {
    constexpr std::uint64_t count = 200'000;
    Executor executor{{.clock_ns = steady_ns}};
    auto& keeper = executor.add<Keeper>(Bounds{.most = 1'000, .when_full = WhenFull::wait});
    Sender<Item> sender = keeper.items.sender();
    const ActorReading before = read(*keeper.figures(), steady_ns());
    ActorReading last = before;
    {
        const ExecutorThread thread{executor};
        for (std::uint64_t i = 0; i < count; ++i) {
            ASSERT_EQ(sender.send({}), Sent::sent);
            if (i % 1'000 == 0) {
                const ActorReading now = read(*keeper.figures(), steady_ns());
                EXPECT_GE(now.handled, last.handled);
                EXPECT_LE(now.handled, count);
                last = now;
            }
        }
        sender.flush();
        while (keeper.figures()->handled.read() != count) {
            std::this_thread::yield();
        }
    }
    const ActorRates rates = since(read(*keeper.figures(), steady_ns()), before);
    EXPECT_GT(rates.handled_per_second, 0);
    EXPECT_GT(rates.busy, 0);
    EXPECT_GT(rates.waiting_ns.count, 0U);
    EXPECT_GT(rates.service_ns.count, 0U);
    EXPECT_LT(rates.waiting_ns.highest_ns, 60'000'000'000U) << "one clock for both sides";
}

}  // namespace
}  // namespace pinstrike::actors::runtime
