// The whole appliance on generated traffic, with hot threads that must not allocate (heap.cpp of
// the executable is linked in, strict).
#include "actors/appliance/appliance.h"

#include "actors/book/book.h"
#include "actors/telemetry/account.h"
#include "actors/telemetry/metrics/appliance_metrics.h"
#include "actors/threads/heap_guard.h"
#include "feed/opra/lines.h"
#include "feed/opra/traffic/generator.h"
#include "feed/opra/traffic/series_map_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

namespace pinstrike::actors {
namespace {

struct Shape {
    std::size_t pollers = 1;
    std::size_t cores = 1;
    WaitStrategy wait = WaitStrategy::park;
    std::size_t ring_slots = 1 << 16;
    double rate = 200'000;
};

feed::opra::TrafficConfig traffic_of(const Shape& shape) {
    feed::opra::TrafficConfig traffic;
    traffic.lines_count = 4;
    traffic.messages_count = 50'000;
    traffic.roots_count = 100;
    traffic.series_count = 5'000;
    traffic.rate_messages_per_second = shape.rate;
    traffic.a.loss = 0.01;
    traffic.b.loss = 0.01;
    traffic.b.skew_ns = 100'000;
    return traffic;
}

FeedConfig config_of(const Shape& shape) {
    FeedConfig config;
    const std::vector<std::uint16_t> numbers{1, 2, 3, 4};
    config.lines = feed::opra::published_lines(numbers);
    nic::PortConfig port;
    port.name = "sim";
    port.kind = nic::PortKind::sim;
    config.ports.push_back(port);
    for (std::size_t i = 0; i < shape.pollers; ++i) {
        PollerConfig poller;
        poller.name = "poll" + std::to_string(i);
        poller.wait = shape.wait;
        poller.ports = {"sim"};
        for (std::size_t line = i; line < numbers.size(); line += shape.pollers) {
            poller.lines.push_back(numbers[line]);
        }
        config.pollers.push_back(poller);
    }
    for (std::size_t i = 0; i < shape.cores; ++i) {
        CoreConfig core;
        core.name = "core" + std::to_string(i);
        core.wait = shape.wait;
        config.cores.push_back(core);
    }
    config.ring_slots = shape.ring_slots;
    config.actors.get<BookConfig>().series_capacity = 40'000;
    config.traffic = feed::opra::traffic::settings_of(traffic_of(shape));
    return config;
}

struct Outcome {
    CounterSnapshot counters;
    std::uint64_t delivered = 0;
    std::uint64_t refused = 0;
    std::uint64_t events = 0;
    std::vector<std::string> wrong;
};

/// Runs until the cores have received so many messages or a minute has passed, then stops.
Outcome run(const FeedConfig& config, std::uint64_t events_wanted) {
    Problems problems;
    const auto appliance = Appliance::build(config, problems);
    EXPECT_TRUE(appliance) << (problems.empty() ? "" : problems.front().text);
    Outcome outcome;
    if (!appliance) {
        return outcome;
    }
    appliance->start();
    std::uint64_t events = 0;
    while (events < events_wanted && appliance->seconds() < 60) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        appliance->housekeep();
        events = 0;
        for (std::size_t i = 0; i < appliance->cores_count(); ++i) {
            events += appliance->core(i).counters().read(CoreCount::events);
        }
    }
    appliance->stop();
    outcome.counters = take_counter_snapshot(*appliance, Running::stopped);
    outcome.wrong = imbalances(outcome.counters);
    for (const auto& line : parts_of(outcome.counters, &PollerSnapshot::lines)) {
        outcome.delivered += line.counts[feed::LineCount::delivered];
    }
    for (const auto& ring : parts_of(outcome.counters, &PollerSnapshot::rings)) {
        outcome.refused += ring.counts[RingCount::refused];
    }
    for (const auto& core : outcome.counters.cores) {
        outcome.events += core.counts[CoreCount::events];
    }
    return outcome;
}

/// The ring holds the messages of ten seconds in which the core does not run.
TEST(Appliance, stopped_under_load_leaves_nothing_behind_and_balances) {
    const Outcome outcome = run(config_of({.ring_slots = 1 << 20, .rate = 100'000}), 30'000);
    EXPECT_EQ(outcome.wrong, std::vector<std::string>{});
    EXPECT_GE(outcome.events, 30'000U);
    EXPECT_GE(outcome.delivered, outcome.events);
    EXPECT_EQ(outcome.refused, 0U);
}

TEST(Appliance, two_pollers_and_two_cores_balance) {
    const Outcome outcome = run(config_of({.pollers = 2, .cores = 2}), 30'000);
    EXPECT_EQ(outcome.wrong, std::vector<std::string>{});
    EXPECT_EQ(std::ranges::distance(parts_of(outcome.counters, &PollerSnapshot::rings)), 4);
    EXPECT_GT(outcome.counters.cores[0].counts[CoreCount::events], 0U);
    EXPECT_GT(outcome.counters.cores[1].counts[CoreCount::events], 0U);
}

/// Small rings and as much traffic as the generator can make: messages are refused, and the account
/// balances.
TEST(Appliance, overloaded_rings_refuse_and_the_account_says_so) {
    Shape shape;
    shape.ring_slots = 512;
    shape.wait = WaitStrategy::spin;
    shape.rate = 1e9;
    const Outcome outcome = run(config_of(shape), 200'000);
    EXPECT_EQ(outcome.wrong, std::vector<std::string>{});
    if (outcome.refused == 0) {
        GTEST_SKIP() << "the core kept up: nothing was refused";
    }
    EXPECT_GT(outcome.counters.cores[0].counts[CoreCount::gap_events], 0U);
}

/// The day's file lists all series of the simulator, so every message finds an existing entry.
TEST(Appliance, series_of_the_days_file_are_known_before_the_first_message) {
    const Shape shape{.cores = 2};
    FeedConfig config = config_of(shape);
    config.series_map =
        ::testing::TempDir() + "appliance_series" + std::to_string(::getpid()) + ".csv";
    {
        std::ofstream file{config.series_map};
        feed::opra::traffic::write_series_map(file, traffic_of(shape), config.lines);
    }
    Problems problems;
    const auto appliance = Appliance::build(config, problems);
    std::filesystem::remove(config.series_map);
    ASSERT_TRUE(appliance) << problems.front().text;
    appliance->start();
    while (appliance->core(0).counters().read(CoreCount::events) < 10'000 &&
           appliance->seconds() < 60) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    appliance->stop();
    EXPECT_EQ(imbalances(take_counter_snapshot(*appliance, Running::stopped)),
              std::vector<std::string>{});
    std::uint64_t announced = 0;
    for (std::size_t i = 0; i < 2; ++i) {
        const auto& book = dynamic_cast<const Book&>(*appliance->actors("book")[i]);
        EXPECT_EQ(book.counters().read(BookCount::series_unannounced), 0U);
        EXPECT_EQ(book.announced_count(), book.entries_count());
        EXPECT_EQ(book.announced_count(), appliance->series().counts[i]);
        EXPECT_EQ(appliance->core(i).counters().read(CoreCount::announced_series),
                  book.announced_count());
        EXPECT_GT(book.series_count(), 0U);
        EXPECT_LT(book.series_count(), book.announced_count());
        announced += book.announced_count();
    }
    EXPECT_EQ(announced, appliance->series().count(SeriesRow::announced));
    EXPECT_GE(announced, 5'000U);
}

/// Recovery gets every note of the pollers, and every request ends.
TEST(Appliance, recovery_hears_of_every_hole_and_ends_in_order) {
    FeedConfig config = config_of({.pollers = 2});
    config.recovery.sources = {feed::RepairKind::retransmission};
    Problems problems;
    const auto appliance = Appliance::build(config, problems);
    ASSERT_TRUE(appliance);
    ASSERT_NE(appliance->recovery().task, nullptr);
    appliance->start();
    const auto& counters = appliance->recovery().task->recovery().counters();
    while (counters.read(feed::RecoveryCount::missing) < 100 && appliance->seconds() < 60) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    appliance->stop();
    EXPECT_EQ(imbalances(take_counter_snapshot(*appliance, Running::stopped)),
              std::vector<std::string>{});
    for (std::size_t i = 0; i < appliance->pollers_count(); ++i) {
        EXPECT_EQ(appliance->poller(i).repair_rings()->notes_dropped().read(), 0U);
    }
    const auto count = [&](feed::RecoveryCount which) { return counters.read(which); };
    EXPECT_GE(count(feed::RecoveryCount::missing), 100U);
    EXPECT_EQ(count(feed::RecoveryCount::open), 0U);
    EXPECT_EQ(count(feed::RecoveryCount::requests), 0U);
    EXPECT_EQ(count(feed::RecoveryCount::missing),
              count(feed::RecoveryCount::filled) + count(feed::RecoveryCount::repaired) +
                  count(feed::RecoveryCount::abandoned) + count(feed::RecoveryCount::never_asked) +
                  count(feed::RecoveryCount::untracked));
}

TEST(Appliance, without_a_source_nothing_of_recovery_runs) {
    Problems problems;
    const auto appliance = Appliance::build(config_of({}), problems);
    ASSERT_TRUE(appliance);
    EXPECT_EQ(appliance->recovery().task, nullptr);
    EXPECT_EQ(appliance->poller(0).repair_rings(), nullptr);
}

/// A poller that makes no loop steps adopts what it was offered when it continues, so the reload
/// counts, and the config in use is the one that the poller will have.
TEST(Appliance, a_reload_that_a_poller_has_yet_to_adopt_is_not_refused) {
    Problems problems;
    FeedConfig config = config_of({});
    const auto appliance = Appliance::build(config, problems);
    ASSERT_TRUE(appliance);
    config.arbitration.window_ns *= 2;
    EXPECT_EQ(appliance->reload(config, 1'000'000, problems), SettingsOutcome::offered);
    EXPECT_TRUE(problems.empty());
    EXPECT_EQ(appliance->reload(config, 1'000'000, problems), SettingsOutcome::refused);
    EXPECT_EQ(problems.size(), 1U);
    problems.clear();
    appliance->start();
    EXPECT_EQ(appliance->reload(config, 60'000'000'000, problems), SettingsOutcome::adopted);
    appliance->stop();
    EXPECT_TRUE(problems.empty());
}

TEST(Appliance, can_be_dropped_without_having_been_started_or_stopped) {
    Problems problems;
    { const auto never_started = Appliance::build(config_of({}), problems); }
    {
        const auto running = Appliance::build(config_of({}), problems);
        ASSERT_TRUE(running);
        running->start();
    }
    EXPECT_TRUE(problems.empty());
}

/// Prometheus may scrape at any time, from before the start until after the end.
TEST(Appliance, is_scraped_while_it_starts_and_stops) {
    Problems problems;
    const auto appliance = Appliance::build(config_of({.pollers = 2, .cores = 2}), problems);
    ASSERT_TRUE(appliance);
    const LogCounters log;
    std::atomic<bool> done{false};
    double shortest_s = 0;
    std::atomic<std::size_t> scrapes_count{0};
    std::thread scraper{[&] {
        while (!done.load(std::memory_order_acquire)) {
            shortest_s = std::min(shortest_s, appliance->seconds());
            EXPECT_FALSE(
                appliance_metrics(take_counter_snapshot(*appliance), log, nullptr).empty());
            scrapes_count.fetch_add(1, std::memory_order_relaxed);
        }
    }};
    const auto wait_for_scrapes = [&] {
        constexpr std::size_t scrapes = 20;
        const std::size_t before = scrapes_count.load(std::memory_order_relaxed);
        while (scrapes_count.load(std::memory_order_relaxed) < before + scrapes) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    };
    wait_for_scrapes();
    appliance->start();
    wait_for_scrapes();
    appliance->housekeep();
    appliance->stop();
    wait_for_scrapes();
    done.store(true, std::memory_order_release);
    scraper.join();
    EXPECT_GE(shortest_s, 0.0);
    EXPECT_GT(appliance->seconds(), 0.0);
}

TEST(Appliance, reports_what_does_not_fit) {
    FeedConfig config = config_of({});
    config.pollers[0].cpu = 4'000;
    config.cores[0].actors = {"nothing"};
    Problems problems;
    EXPECT_EQ(Appliance::build(config, problems), nullptr);
    EXPECT_EQ(problems.size(), 2U);
}

TEST(HeapGuardDeathTest, an_allocation_on_a_frozen_thread_ends_a_test_build) {
#ifndef PINSTRIKE_STRICT_HEAP
    GTEST_SKIP() << "a sanitizer brings its own operator new";
#endif
    EXPECT_DEATH(
        {
            const FrozenHeap frozen;
            const std::vector<int> grown(1000);
            std::printf("%p", static_cast<const void*>(grown.data()));
        },
        "no hot thread allocates after its start");
}

}  // namespace
}  // namespace pinstrike::actors
