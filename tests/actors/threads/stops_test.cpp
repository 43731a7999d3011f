// Preemption is detected if the thread had no work, and only then. The test sets the time: a
// preemption is a step that comes late, and a slow handler is a step that comes late after work.
#include "actors/core/core.h"
#include "actors/threads/loop_counters.h"
#include "config/time_units.h"
#include "tests/actors/events.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace pinstrike::actors {
namespace {

using feed::Event;

constexpr std::int64_t us = 1'000;

class Sink : public Actor {
  public:
    [[nodiscard]] std::string_view name() const override { return "sink"; }

    void on_events(EventBatch /*batch*/) override { ++calls; }

    std::size_t on_idle() override {
        ++asked;
        return 0;
    }

    int calls = 0;
    int asked = 0;
};

/// A core with one ring, which the test fills. Time advances only by turn().
struct StopsScene {
    explicit StopsScene(CoreOptions options = {}) {
        auto halves = Ring<Event>::make(1024);
        producer = std::make_unique<Producer<Event>>(std::move(halves.producer));
        std::vector<Consumer<Event>> rings;
        rings.push_back(std::move(halves.consumer));
        std::vector<std::unique_ptr<Actor>> actors;
        actors.push_back(std::make_unique<Sink>());
        core = std::make_unique<Core>(std::move(options), std::move(rings), std::move(actors));
        core->set_producer_counters({&poller});
        core->start();
        turn(0);  // runs timers and on_idle()
        turn(100);
    }

    /// A step `after_ns` after the last one.
    void turn(std::int64_t after_ns) {
        now_ns += after_ns;
        core->step(now_ns);
    }

    /// Turns of 50 ns without work.
    void spin(int turns) {
        for (int i = 0; i < turns; ++i) {
            turn(50);
        }
    }

    void arrive(std::int64_t at_ns) {
        Event event = test_events::quote_of(test_events::series_of("A"), ++sequence);
        event.header.ts_receive_ns = at_ns;
        ASSERT_TRUE(producer->try_push(std::vector{event}));
    }

    [[nodiscard]] std::uint64_t stops() const {
        return core->counters().preemptions_ns.snapshot().count;
    }

    [[nodiscard]] Histogram::Snapshot raw() const {
        return core->counters().receive_to_actor_ns.snapshot();
    }

    [[nodiscard]] Histogram::Snapshot preempted() const {
        return core->counters().receive_to_actor_preempted_ns.snapshot();
    }

    std::int64_t now_ns = 1'773'667'800'000 * ms_ns;
    std::uint32_t sequence = 0;
    LoopCounters poller;
    std::unique_ptr<Producer<Event>> producer;
    std::unique_ptr<Core> core;
};

TEST(Stops, a_long_turn_in_which_nothing_was_done_is_one_and_what_overlaps_it_is_preempted) {
    StopsScene scene;
    scene.spin(10);
    scene.arrive(scene.now_ns + 10 * us);  // during the preemption
    scene.turn(25 * us);                   // preempted: the turn before found nothing
    EXPECT_EQ(scene.stops(), 1U);
    EXPECT_EQ(scene.core->counters().preemptions_ns.snapshot().highest_ns, 25'000U);
    EXPECT_EQ(scene.raw().count, 1U);
    EXPECT_EQ(scene.raw().highest_ns, 15'000U);
    EXPECT_EQ(scene.preempted().count, 1U);
    EXPECT_EQ(scene.preempted().highest_ns, 15'000U);

    scene.spin(2);                    // the backlog is done
    scene.arrive(scene.now_ns + 20);  // after the preemption
    scene.turn(50);
    EXPECT_EQ(scene.raw().count, 2U);
    EXPECT_EQ(scene.preempted().count, 1U);
}

TEST(Stops, messages_that_arrive_during_the_backlog_count_as_preempted) {
    StopsScene scene;
    scene.spin(10);
    scene.arrive(scene.now_ns + 10 * us);
    scene.turn(100 * us);  // preempted; then the message is passed on
    scene.arrive(scene.now_ns + 1 * us);
    scene.turn(20 * us);  // the handler's time: a backlog
    EXPECT_EQ(scene.preempted().count, 2U);
    scene.arrive(scene.now_ns + 1 * us);
    scene.turn(20 * us);
    EXPECT_EQ(scene.preempted().count, 3U);
    scene.turn(50);
    scene.turn(50);  // found nothing: it has caught up
    scene.arrive(scene.now_ns + 1 * us);
    scene.turn(2 * us);
    scene.arrive(scene.now_ns + 1 * us);
    scene.turn(20 * us);
    EXPECT_EQ(scene.raw().count, 5U);
    EXPECT_EQ(scene.preempted().count, 3U);
    EXPECT_EQ(scene.stops(), 1U);
}

TEST(Stops, a_core_that_never_keeps_up_blames_a_stop_no_longer_than_it_lasted) {
    StopsScene scene;
    scene.spin(10);
    std::uint64_t within = 0;
    scene.arrive(scene.now_ns + 1 * us);
    scene.turn(100 * us);
    const std::int64_t stop_end_ns = scene.now_ns;
    for (int i = 0; i < 100; ++i) {  // work in every turn
        scene.arrive(scene.now_ns + 1 * us);
        scene.turn(3 * us);
        within += scene.now_ns < stop_end_ns + 100 * us ? 1 : 0;
    }
    EXPECT_EQ(within, 33U);
    EXPECT_EQ(scene.raw().count, 101U);
    EXPECT_EQ(scene.preempted().count, 1U + within);
}

TEST(Stops, a_slow_handler_is_none_and_those_who_wait_for_it_are_not_cut_out) {
    StopsScene scene;
    scene.spin(10);
    for (int i = 0; i < 100; ++i) {
        scene.arrive(scene.now_ns);
        scene.turn(50);                        // passed on: the handler begins
        scene.arrive(scene.now_ns + 10 * us);  // comes while the handler runs
        scene.turn(25 * us);                   // the handler returns
        scene.turn(25 * us);                   // and again
        scene.spin(3);
    }
    EXPECT_EQ(scene.stops(), 0U);
    EXPECT_EQ(scene.raw().count, 200U);
    EXPECT_GE(scene.raw().highest_ns, 15'000U);
    EXPECT_EQ(scene.preempted().count, 0U);
}

TEST(Stops, among_stops_and_slow_handlers_exactly_the_stops_are_found) {
    StopsScene scene;
    std::uint64_t injected = 0;
    std::uint64_t random = 42;
    for (int i = 0; i < 10'000; ++i) {
        random = random * 6364136223846793005ULL + 1442695040888963407ULL;
        scene.arrive(scene.now_ns);
        scene.turn(50);
        scene.turn((random >> 33) % 3 == 0 ? 40 * us : 200);  // the handler
        const std::uint64_t before = scene.stops();
        scene.turn(50);  // the turn before may have had work
        scene.turn(50);
        ASSERT_EQ(scene.stops(), before);
        if ((random >> 40) % 5 == 0) {
            const int asked = dynamic_cast<const Sink&>(scene.core->actor(0)).asked;
            scene.turn(50);
            if (dynamic_cast<const Sink&>(scene.core->actor(0)).asked == asked) {
                scene.turn(30 * us);
                ++injected;
            }
        }
    }
    EXPECT_GT(injected, 1000U);
    // If a timer ran in the preempted turn, nothing is proved. So up to one preemption per
    // millisecond is not detected, and no other turn counts as one.
    EXPECT_LE(scene.stops(), injected);
    EXPECT_GT(scene.stops(), injected * 9 / 10);
    EXPECT_EQ(scene.preempted().count, 0U);  // all arrived after the preemptions
}

TEST(Stops, timers_and_what_actors_do_while_idle_are_their_own_time) {
    StopsScene scene;
    scene.turn(1 * ms_ns);  // after a turn without work: preempted; runs a timer
    const std::uint64_t before = scene.stops();
    scene.turn(80 * us);  // the time of the timer and of on_idle()
    EXPECT_EQ(scene.stops(), before);
    scene.turn(80 * us);  // on_idle() ran again after a microsecond
    EXPECT_EQ(scene.stops(), before);
}

TEST(Stops, actors_are_asked_seldom_while_they_have_nothing_so_that_most_turns_prove_something) {
    StopsScene scene;
    const int before = dynamic_cast<const Sink&>(scene.core->actor(0)).asked;
    scene.spin(2'000);  // 100 us
    const int asked = dynamic_cast<const Sink&>(scene.core->actor(0)).asked - before;
    EXPECT_GE(asked, 90);
    EXPECT_LE(asked, 101);
}

TEST(Stops, a_voluntary_sleep_is_no_stop) {
    StopsScene scene;
    scene.spin(10);
    scene.core->slept();
    scene.turn(20 * ms_ns);
    EXPECT_EQ(scene.stops(), 0U);
    scene.turn(50);
    EXPECT_EQ(scene.core->counters().not_empty_ns.snapshot().highest_ns,
              static_cast<std::uint64_t>(20 * ms_ns));
}

TEST(Stops, a_stop_of_the_poller_disturbs_what_had_arrived_before_its_end) {
    StopsScene scene;
    scene.poller.stalled_until_ns.set(static_cast<std::uint64_t>(scene.now_ns + 300));
    scene.arrive(scene.now_ns + 200);  // by the NIC's time stamp
    scene.turn(500);
    EXPECT_EQ(scene.preempted().count, 1U);
    scene.arrive(scene.now_ns - 100);
    scene.turn(50);
    EXPECT_EQ(scene.preempted().count, 1U);
}

TEST(Stops, a_clock_set_back_leaves_none_ahead) {
    StopsScene scene;
    scene.spin(10);
    scene.turn(25 * us);
    ASSERT_EQ(scene.stops(), 1U);
    scene.turn(-3'600'000 * ms_ns);
    scene.arrive(scene.now_ns);
    scene.turn(50);
    EXPECT_EQ(scene.preempted().count, 0U);
    EXPECT_EQ(scene.stops(), 1U);
}

TEST(Stops, each_message_of_a_batch_counts_so_that_a_backlog_is_not_one_sample) {
    StopsScene scene;
    for (int i = 0; i < 100; ++i) {
        scene.arrive(scene.now_ns);
        scene.turn(50);
    }
    const std::int64_t late_ns = scene.now_ns;
    for (int i = 0; i < 100; ++i) {
        scene.arrive(late_ns);
    }
    scene.turn(100 * us);
    EXPECT_EQ(scene.raw().count, 200U);
    EXPECT_EQ(scene.raw().quantile_ns(0.75), 100'000U);
}

/// In a paced replay, the latency of a packet begins when the packet was due, even if it was
/// received later.
TEST(Due, who_was_kept_waiting_counts_from_when_it_should_have_been_served) {
    constexpr std::int64_t captured_ns = 5'000 * ms_ns;
    nic::ReplayStart start;
    const std::size_t port = start.add_port(captured_ns);
    CoreOptions options;
    options.live = false;
    options.due = {&start, nic::Pace{2}};
    StopsScene scene{options};
    ASSERT_TRUE(start.ask(port, captured_ns, scene.now_ns, nic::Pace{2}).due);
    scene.arrive(captured_ns + 2 * ms_ns);  // due 1 ms after the start
    scene.turn(1 * ms_ns + 200 * us);
    EXPECT_EQ(scene.raw().count, 1U);
    EXPECT_EQ(scene.raw().highest_ns, 200'000U);
    EXPECT_EQ(scene.preempted().count, 1U);  // preempted when it was due

    scene.arrive(captured_ns + 4 * ms_ns);  // 800 us from now; the handler takes 10 ms
    scene.turn(10 * ms_ns);
    EXPECT_EQ(scene.raw().highest_ns, 9'200'000U);
    EXPECT_EQ(scene.preempted().count, 1U);
}

TEST(Due, without_a_pace_nothing_was_ever_due) {
    CoreOptions options;
    options.live = false;
    StopsScene scene{options};
    scene.arrive(1);
    scene.turn(50);
    EXPECT_EQ(scene.raw().count, 0U);
}

}  // namespace
}  // namespace pinstrike::actors
