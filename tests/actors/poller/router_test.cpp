#include "actors/poller/router.h"

#include "tests/actors/events.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace pinstrike::actors {
namespace {

using feed::Event;
using feed::EventKind;
using feed::Forget;
using feed::GapCause;
using test_events::control_of;
using test_events::gap_of;
using test_events::quote_of;
using test_events::series_of;

constexpr std::size_t ring_slots = 1024;
constexpr std::size_t spare = ring_slots / 16;

/// Drains a ring and returns one word per message: q5, control K7, gap(3-9:4 ring_full).
std::vector<std::string> drain(Consumer<Event>& ring, std::size_t max = ring_slots) {
    std::vector<std::string> words;
    const auto records = ring.peek(max);
    for (std::size_t at = 0; at < records.size(); at += records[at].header.records) {
        const Event& event = records[at];
        if (event.header.kind == EventKind::gap) {
            const auto& gap = event.body.gap;
            words.push_back(fmt::format("gap {}-{}:{} {}", gap.first, gap.last, gap.messages,
                                        gap.cause == GapCause::ring_full ? "full" : "other"));
        } else {
            const char letter = event.header.kind == EventKind::control ? event.header.type : 'q';
            words.push_back(fmt::format("{}{}", letter, event.header.sequence));
        }
    }
    ring.release(records.size());
    return words;
}

using Words = std::vector<std::string>;

struct RouterScene {
    explicit RouterScene(std::size_t cores = 1, WhenFull when_full = WhenFull::refuse,
                         Sharding sharding = Sharding::series) {
        std::vector<Producer<Event>> producers;
        for (std::size_t i = 0; i < cores; ++i) {
            auto halves = Ring<Event>::make(ring_slots);
            producers.push_back(std::move(halves.producer));
            rings.push_back(std::move(halves.consumer));
        }
        router =
            std::make_unique<Router>(RouterConfig{sharding, when_full, 3}, std::move(producers),
                                     std::vector<Parking*>(cores, nullptr));
        router->begin(0);
    }

    void route(const Event& event) {
        const std::array<Event, 2> records{event, Event{}};
        router->push({records.data(), event.header.records});
    }

    /// Fills the ring with `count` quotes numbered from `first`.
    void route_many(std::uint32_t first, std::size_t count) {
        for (std::uint32_t i = 0; i < count; ++i) {
            route(quote_of(series_of("A"), first + i));
        }
    }

    std::vector<Consumer<Event>> rings;
    std::unique_ptr<Router> router;
};

TEST(Router, a_series_always_goes_to_one_core_and_all_cores_are_used) {
    RouterScene scene{3};
    for (std::uint32_t i = 0; i < 600; ++i) {
        scene.route(quote_of(series_of("SPX", i % 100), i));
    }
    scene.router->publish();
    std::uint64_t total = 0;
    std::vector<int> owner(100, -1);
    for (int core = 0; core < 3; ++core) {
        const auto records = scene.rings[static_cast<std::size_t>(core)].peek(ring_slots);
        EXPECT_GT(records.size(), 100U);
        total += records.size();
        for (const Event& event : records) {
            int& known = owner[static_cast<std::size_t>(event.body.series.strike_e8)];
            EXPECT_TRUE(known == -1 || known == core);
            known = core;
        }
    }
    EXPECT_EQ(total, 600U);
}

TEST(Router, sharding_by_underlying_keeps_an_underlying_and_its_value_together) {
    RouterScene scene{4, WhenFull::refuse, Sharding::underlying};
    const auto key = series_of("NDX");
    for (std::uint32_t i = 0; i < 50; ++i) {
        scene.route(quote_of(series_of("NDX", i), i));
    }
    Event value = quote_of(key, 50);
    value.header.kind = EventKind::underlying;
    value.body.underlying = {key.symbol_word(), 1, 0, 0};
    scene.route(value);
    scene.router->publish();
    std::size_t used = 0;
    for (auto& ring : scene.rings) {
        const auto records = ring.peek(ring_slots);
        used += records.empty() ? 0 : 1;
        EXPECT_TRUE(records.empty() || records.size() == 51U);
    }
    EXPECT_EQ(used, 1U);
}

TEST(Router, all_texts_of_a_line_go_to_one_core) {
    RouterScene scene{3};
    for (std::uint32_t i = 0; i < 30; ++i) {
        Event text = quote_of(series_of("SPX", i), i, 1, static_cast<std::uint16_t>(i % 3));
        text.header.kind = EventKind::text;
        scene.route(text);
    }
    scene.router->publish();
    for (auto& ring : scene.rings) {
        const auto records = ring.peek(ring_slots);
        ASSERT_EQ(records.size(), 10U);
        for (const Event& event : records) {
            EXPECT_EQ(event.header.line, records.front().header.line);
        }
    }
}

TEST(Router, broadcasts_reach_every_core_and_are_in_no_rings_count) {
    RouterScene scene{2};
    scene.router->broadcast(control_of('P', Forget::quotes, 4));
    scene.router->broadcast(control_of('C', Forget::day, 0));
    scene.router->broadcast(gap_of(5, 6, GapCause::line));
    scene.router->publish();
    for (auto& ring : scene.rings) {
        EXPECT_EQ(drain(ring), (Words{"P4", "C0", "gap 5-6:2 other"}));
    }
    EXPECT_EQ(scene.router->counters(0).read(RingCount::routed), 0U);
}

TEST(Router, what_a_full_ring_refuses_is_reported_as_one_gap_when_there_is_room) {
    RouterScene scene;
    const std::size_t taken = ring_slots - spare;
    scene.route_many(1, taken + 10);
    scene.router->publish();
    EXPECT_EQ(scene.router->counters(0).read(RingCount::refused), 10U);
    EXPECT_EQ(drain(scene.rings[0]).size(), taken);
    scene.route_many(static_cast<std::uint32_t>(taken) + 11, 1);
    scene.router->publish();
    EXPECT_EQ(drain(scene.rings[0]), (Words{fmt::format("gap {}-{}:10 full", taken + 1, taken + 10),
                                            fmt::format("q{}", taken + 11)}));
    const auto& counters = scene.router->counters(0);
    EXPECT_EQ(counters.read(RingCount::routed),
              counters.read(RingCount::pushed) + counters.read(RingCount::refused));
    EXPECT_EQ(counters.read(RingCount::pushed), taken + 1);
}

TEST(Router, no_data_goes_before_a_pending_control) {
    RouterScene scene;
    scene.route_many(1, ring_slots - spare);
    for (std::uint32_t i = 0; i < spare; ++i) {
        scene.router->broadcast(gap_of(5000 + i, 5000 + i, GapCause::line));
    }
    scene.router->broadcast(
        control_of('K', Forget::quotes, 7));  // the spare ring_slots are full too
    scene.router->publish();
    EXPECT_EQ(drain(scene.rings[0], 2 * spare - 1).size(), 2 * spare - 1);
    scene.route(quote_of(series_of("A"), 8));  // room, but not enough for the pending events
    EXPECT_EQ(scene.router->next_slots(1), nullptr);
    EXPECT_EQ(drain(scene.rings[0], 1).size(), 1U);
    scene.route(quote_of(series_of("A"), 9));
    EXPECT_NE(scene.router->next_slots(1), nullptr);
    scene.router->publish();
    const Words words = drain(scene.rings[0]);
    EXPECT_EQ(Words(words.end() - 3, words.end()), (Words{"K7", "gap 8-8:1 full", "q9"}));
}

TEST(Router, a_refused_message_of_several_records_leaves_none_of_them) {
    RouterScene scene;
    scene.route_many(1, ring_slots - spare - 1);
    scene.route(quote_of(series_of("A"), 5000, 2));  // one slot short
    scene.route(quote_of(series_of("A"), 5001));
    scene.router->publish();
    const Words words = drain(scene.rings[0]);
    EXPECT_EQ(words.size(), ring_slots - spare - 1);
    EXPECT_TRUE(scene.router->flush_pending());
    EXPECT_EQ(drain(scene.rings[0]), (Words{"gap 5000-5001:2 full"}));
    scene.route(quote_of(series_of("A"), 5002));
    scene.router->publish();
    EXPECT_EQ(drain(scene.rings[0]), (Words{"q5002"}));
}

TEST(Router, what_is_offered_counts_only_as_far_as_it_is_taken) {
    RouterScene scene;
    Event* offered = scene.router->next_slots(ring_slots - spare);
    ASSERT_NE(offered, nullptr);
    offered[0] = quote_of(series_of("A"), 1, 2);
    offered[1] = Event{};
    offered[2] = quote_of(series_of("B"), 2);
    scene.router->commit(2, 3);
    scene.route(quote_of(series_of("A"), 3));
    scene.router->publish();
    EXPECT_EQ(drain(scene.rings[0]), (Words{"q1", "q2", "q3"}));
    EXPECT_EQ(scene.router->counters(0).read(RingCount::routed), 3U);
    EXPECT_EQ(scene.router->counters(0).read(RingCount::pushed), 3U);
}

TEST(Router, nothing_is_offered_where_there_is_no_room) {
    RouterScene scene;
    EXPECT_EQ(scene.router->next_slots(ring_slots - spare + 1), nullptr)
        << "the last ring_slots are for controls";
    scene.route_many(1, ring_slots - spare + 1);  // the last is refused
    EXPECT_EQ(scene.router->next_slots(1), nullptr);
    scene.router->publish();
    EXPECT_EQ(drain(scene.rings[0]).size(), ring_slots - spare);
    EXPECT_TRUE(scene.router->flush_pending());
    EXPECT_EQ(drain(scene.rings[0]).size(), 1U) << "the gap";
    RouterScene several{2};
    EXPECT_NE(several.router->next_slots(2 * 255), nullptr) << "a block of messages of two records";
    EXPECT_EQ(several.router->next_slots(ring_slots), nullptr);
}

/// Small blocks are pushed by message, larger ones are copied with one check for each ring.
TEST(Router, what_several_cores_are_offered_goes_to_those_of_the_series) {
    RouterScene pushed{3};
    RouterScene offered{3};
    std::uint32_t number = 0;
    for (const std::uint32_t messages : {1U, 5U, 6U, 7U, 8U, 100U}) {
        Event* place = offered.router->next_slots(std::size_t{3} * messages);
        ASSERT_NE(place, nullptr);
        const Event* const begin = place;
        for (std::uint32_t i = 0; i < messages; ++i) {
            const bool two = ++number % 7 == 0;
            Event event = quote_of(series_of("SPX", number % 10), number, two ? 2 : 1);
            if (number % 11 == 0) {
                event.header.kind = EventKind::underlying;
                event.body.underlying.symbol = number;
            }
            const std::array<Event, 2> records{event,
                                               quote_of(series_of("second record"), 1000 + number)};
            pushed.router->push({records.data(), event.header.records});
            place = std::copy_n(records.begin(), event.header.records, place);
        }
        offered.router->commit(messages, static_cast<std::size_t>(place - begin));
    }
    for (std::size_t core = 0; core < 3; ++core) {
        pushed.router->publish();
        offered.router->publish();
        const auto want = pushed.rings[core].peek(ring_slots);
        const auto have = offered.rings[core].peek(ring_slots);
        ASSERT_EQ(have.size(), want.size());
        EXPECT_GT(have.size(), 0U);
        EXPECT_EQ(std::memcmp(have.data(), want.data(), want.size_bytes()), 0);
        EXPECT_EQ(offered.router->counters(core).read(RingCount::routed),
                  pushed.router->counters(core).read(RingCount::routed));
        EXPECT_EQ(offered.router->counters(core).read(RingCount::pushed),
                  pushed.router->counters(core).read(RingCount::pushed));
    }
}

/// One core does not read its ring: its messages are refused and reported. The other core gets all
/// of its messages.
TEST(Router, what_is_handed_out_to_a_full_ring_is_refused_by_it_alone) {
    RouterScene scene{2};
    std::uint32_t number = 0;
    for (int block = 0; block < 100; ++block) {
        Event* place = scene.router->next_slots(50);
        ASSERT_NE(place, nullptr);
        for (std::uint32_t i = 0; i < 50; ++i) {
            place[i] = quote_of(series_of("SPX", i), ++number);
        }
        scene.router->commit(50, 50);
        scene.router->publish();
        drain(scene.rings[1]);
    }
    EXPECT_EQ(drain(scene.rings[0]).size(), ring_slots - spare);
    EXPECT_TRUE(scene.router->flush_pending());
    const auto& full = scene.router->counters(0);
    const auto& free = scene.router->counters(1);
    EXPECT_EQ(full.read(RingCount::pushed), ring_slots - spare);
    EXPECT_GT(full.read(RingCount::refused), 0U);
    EXPECT_EQ(full.read(RingCount::routed),
              full.read(RingCount::pushed) + full.read(RingCount::refused));
    EXPECT_EQ(free.read(RingCount::refused), 0U);
    EXPECT_EQ(full.read(RingCount::routed) + free.read(RingCount::routed), number);
    const Words words = drain(scene.rings[0]);
    ASSERT_EQ(words.size(), 1U);
    EXPECT_NE(words[0].find(" full"), std::string::npos) << words[0];
    EXPECT_NE(words[0].find(fmt::format(":{} ", full.read(RingCount::refused))), std::string::npos)
        << words[0];
}

TEST(Router, controls_have_room_in_a_ring_that_is_full_of_data) {
    RouterScene scene;
    scene.route_many(1, ring_slots);
    scene.router->broadcast(control_of('P', Forget::quotes, 2000));
    scene.router->publish();
    const Words words = drain(scene.rings[0]);
    ASSERT_EQ(words.size(), ring_slots - spare + 2);
    const std::string refused =
        fmt::format("gap {}-{}:64 full", ring_slots - spare + 1, ring_slots);
    EXPECT_EQ(words[words.size() - 2], refused) << "what was refused comes before the control";
    EXPECT_EQ(words.back(), "P2000");
}

/// The core does not read its ring while many controls arrive. Memory stays bounded, and finally
/// the core gets the strongest control, and the number of messages that it missed before and after
/// it.
TEST(Router, for_a_core_that_stands_still_the_strongest_control_and_the_losses_are_pending) {
    RouterScene scene;
    scene.route_many(1, ring_slots - spare);
    for (std::uint32_t i = 0; i < spare; ++i) {
        scene.router->broadcast(control_of('E', Forget::nothing, 10'000 + i));
    }
    scene.route_many(20'000, 3);                                       // refused
    scene.router->broadcast(control_of('P', Forget::quotes, 20'003));  // pending
    scene.route_many(20'004, 2);                                       // refused
    scene.router->broadcast(control_of('C', Forget::day, 0));          // replaces P
    scene.route_many(1, 4);                                            // refused, new day
    scene.router->broadcast(control_of('F', Forget::nothing, 5));      // counts as refused
    scene.router->broadcast(gap_of(6, 7, GapCause::line));             // lost anyway
    scene.router->broadcast(gap_of(1, 2, GapCause::repaired));         // dropped, counted
    scene.router->publish();
    EXPECT_EQ(drain(scene.rings[0]).size(), ring_slots);
    scene.router->publish();
    EXPECT_EQ(drain(scene.rings[0]), (Words{"gap 20000-20005:6 full", "C0", "gap 1-7:7 full"}));
    EXPECT_EQ(scene.router->counters(0).read(RingCount::untold_repairs), 1U);
    EXPECT_EQ(scene.router->counters(0).read(RingCount::refused), 9U);
}

TEST(Router, a_loss_over_the_wrap_is_one_range) {
    RouterScene scene;
    scene.route_many(1000, ring_slots - spare);
    scene.route_many(0xFFFF'FFFE, 2);  // refused
    scene.route_many(1, 3);
    scene.router->publish();
    drain(scene.rings[0]);
    scene.router->publish();
    EXPECT_EQ(drain(scene.rings[0]), (Words{"gap 4294967294-3:5 full"}));
}

TEST(Router, a_lost_message_without_a_number_counts_in_the_range_of_the_others) {
    for (const std::uint32_t number : {5U, 3'000'000'000U}) {
        RouterScene scene;
        scene.route_many(1, ring_slots - spare);
        scene.route(quote_of(series_of("A"), 0));
        scene.router->publish();
        drain(scene.rings[0]);
        EXPECT_TRUE(scene.router->flush_pending());
        EXPECT_EQ(drain(scene.rings[0]), (Words{"gap 0-0:1 full"}));
        scene.route_many(1, ring_slots - spare);
        for (const std::uint32_t refused : {0U, number, 0U, number + 1}) {
            scene.route(quote_of(series_of("A"), refused));
        }
        scene.router->publish();
        drain(scene.rings[0]);
        EXPECT_TRUE(scene.router->flush_pending());
        EXPECT_EQ(drain(scene.rings[0]),
                  (Words{fmt::format("gap {}-{}:4 full", number, number + 1)}));
    }
}

TEST(Router, losses_of_several_lines_are_kept_separate) {
    RouterScene scene;
    scene.route_many(1, ring_slots - spare);
    scene.route_many(2000, 1);
    scene.router->begin(2);
    scene.route(quote_of(series_of("A"), 77, 1, 9));
    scene.router->publish();
    drain(scene.rings[0]);
    scene.router->publish();
    const auto records = scene.rings[0].peek(ring_slots);
    ASSERT_EQ(records.size(), 2U);
    EXPECT_EQ(records[0].header.line, 9);
    EXPECT_EQ(records[0].body.gap.first, 77U);
    EXPECT_EQ(records[1].header.line, 1);
    EXPECT_EQ(records[1].body.gap.first, 2000U);
}

TEST(Router, steady_overload_is_reported_by_housekeeping) {
    RouterScene scene;
    scene.route_many(1, ring_slots);
    scene.router->publish();
    drain(scene.rings[0], 4);  // publish() waits for more free ring_slots
    scene.router->publish();
    scene.router->flush_pending();
    const Words words = drain(scene.rings[0]);
    EXPECT_EQ(words.back().substr(0, 3), "gap");
}

/// Random traffic to a consumer that takes 24 records in a step of 29 at the mean, so that the
/// ring gets full at every seed: the messages that arrive and those reported as refused are the
/// messages that were routed.
TEST(Router, arrived_plus_reported_as_lost_is_what_was_routed) {
    const std::uint64_t seed = std::random_device{}();
    SCOPED_TRACE(seed);
    std::mt19937_64 random{seed};
    RouterScene scene;
    std::uint32_t next = 1;
    std::uint64_t arrived = 0;
    std::uint64_t lost = 0;
    const auto take = [&](std::size_t max) {
        const auto records = scene.rings[0].peek(max);
        for (const Event& event : records) {
            arrived += event.header.kind == EventKind::quote ? 1 : 0;
            lost += event.header.kind == EventKind::gap ? event.body.gap.messages : 0;
        }
        scene.rings[0].release(records.size());
    };
    for (int burst = 0; burst < 3000; ++burst) {
        const std::size_t count = random() % 60;
        scene.route_many(next, count);
        next += static_cast<std::uint32_t>(count);
        if (random() % 50 == 0) {
            scene.router->broadcast(control_of('E', Forget::nothing, next));
        }
        scene.router->publish();
        take(random() % 50);
        if (random() % 100 == 0) {
            scene.router->flush_pending();
        }
    }
    scene.router->flush_pending();
    take(ring_slots);
    EXPECT_TRUE(scene.router->flush_pending());
    take(ring_slots);
    EXPECT_GT(lost, 0U);
    EXPECT_EQ(arrived, scene.router->counters(0).read(RingCount::pushed));
    EXPECT_EQ(lost, scene.router->counters(0).read(RingCount::refused));
    EXPECT_EQ(arrived + lost, next - 1);
}

TEST(Router, wait_refuses_nothing) {
    RouterScene scene{1, WhenFull::wait};
    std::uint64_t arrived = 0;
    std::thread core{[&] {
        while (arrived < 50'001) {
            const auto records = scene.rings[0].peek(100);
            arrived += records.size();
            scene.rings[0].release(records.size());
            std::this_thread::yield();
        }
    }};
    scene.route_many(1, 50'000);  // the test publishes nothing: waiting does
    scene.router->broadcast(control_of('J', Forget::nothing, 50'001));
    scene.router->publish();
    core.join();
    EXPECT_EQ(scene.router->counters(0).read(RingCount::refused), 0U);
    EXPECT_EQ(scene.router->counters(0).read(RingCount::pushed), 50'000U);
}

}  // namespace
}  // namespace pinstrike::actors
