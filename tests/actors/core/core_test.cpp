#include "actors/core/core.h"

#include "config/time_units.h"
#include "tests/actors/events.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace pinstrike::actors {
namespace {

using feed::Event;
using feed::EventKind;
using test_events::control_of;
using test_events::gap_of;
using test_events::quote_of;
using test_events::series_of;

/// Records all calls as text.
class Diary : public Actor {
  public:
    Diary(std::string name, std::vector<std::string>& pages, Interest interest = {})
        : name_(std::move(name)), pages_(pages), interest_(std::move(interest)) {}

    [[nodiscard]] std::string_view name() const override { return name_; }

    [[nodiscard]] Interest interest() const override { return interest_; }

    void on_start(const CoreInfo& core) override {
        pages_.push_back(name_ + " start " + core.name);
    }

    void on_events(EventBatch batch) override {
        std::string page = name_;
        for (const Event& event : batch) {
            page += ' ' + std::to_string(event.header.sequence);
        }
        pages_.push_back(page);
    }

    void on_timer(std::int64_t /*now_ns*/) override { ++timers; }

    void on_stop() override { pages_.push_back(name_ + " stop"); }

    int timers = 0;

  private:
    std::string name_;
    std::vector<std::string>& pages_;
    Interest interest_;
};

struct CoreScene {
    explicit CoreScene(std::size_t rings = 1, std::vector<Interest> interests = {{}},
                       std::vector<std::string> underlyings = {}) {
        std::vector<Consumer<Event>> consumers;
        for (std::size_t i = 0; i < rings; ++i) {
            auto halves = Ring<Event>::make(1024);
            producers.push_back(std::move(halves.producer));
            consumers.push_back(std::move(halves.consumer));
        }
        std::vector<std::unique_ptr<Actor>> actors;
        for (std::size_t i = 0; i < interests.size(); ++i) {
            actors.push_back(std::make_unique<Diary>(std::string(1, static_cast<char>('a' + i)),
                                                     pages, interests[i]));
        }
        CoreOptions options;
        options.info = {"core0", 0, 1};
        options.underlyings = std::move(underlyings);
        core = std::make_unique<Core>(options, std::move(consumers), std::move(actors));
    }

    void push(const std::vector<Event>& events, std::size_t ring = 0) {
        ASSERT_TRUE(producers[ring].try_push(events));
    }

    std::vector<std::string> pages;
    std::vector<Producer<Event>> producers;
    std::unique_ptr<Core> core;
};

using Pages = std::vector<std::string>;

TEST(Core, all_actors_start_before_the_first_message_and_stop_after_the_last) {
    CoreScene scene{1, {{}, {}}};
    scene.push({quote_of(series_of("A"), 1)});  // before the core starts
    EXPECT_TRUE(scene.pages.empty());
    scene.core->start();
    scene.core->step(1);
    scene.push({quote_of(series_of("A"), 2)});
    scene.core->drain(2);
    scene.core->stop();
    EXPECT_EQ(scene.pages, (Pages{"a start core0", "b start core0", "a 1", "b 1", "a 2", "b 2",
                                  "a stop", "b stop"}));
}

TEST(Core, timers_go_on_when_the_clock_is_set_back) {
    constexpr std::int64_t hour = 3'600'000 * ms_ns;
    CoreScene scene;
    scene.core->start();
    for (int i = 0; i < 10; ++i) {
        scene.core->step(2 * hour + 2 * i * ms_ns);
    }
    for (int i = 0; i < 10; ++i) {
        scene.core->step(hour + 2 * i * ms_ns);
    }
    EXPECT_EQ(dynamic_cast<const Diary&>(scene.core->actor(0)).timers, 20);
}

TEST(Core, what_can_wait_is_done_while_no_ring_has_anything) {
    class Idler : public Actor {
      public:
        [[nodiscard]] std::string_view name() const override { return "idler"; }

        void on_events(EventBatch /*batch*/) override { waits = 2; }

        std::size_t on_idle() override { return waits == 0 ? 0 : waits--; }

        std::size_t waits = 0;
    };

    auto halves = Ring<Event>::make(1024);
    std::vector<Consumer<Event>> rings;
    rings.push_back(std::move(halves.consumer));
    std::vector<std::unique_ptr<Actor>> actors;
    actors.push_back(std::make_unique<Idler>());
    Core core{CoreOptions{}, std::move(rings), std::move(actors)};
    core.start();
    EXPECT_EQ(core.step(1), 0U);
    ASSERT_TRUE(halves.producer.try_push(std::vector{quote_of(series_of("A"), 1)}));
    EXPECT_EQ(core.step(2), 1U);  // only the message
    EXPECT_EQ(core.step(3), 2U);
    EXPECT_EQ(core.step(4), 1U);
    EXPECT_EQ(core.step(5), 0U);  // now it may sleep
    EXPECT_LT(core.nap_ns(5), ms_ns) << "more records may come at once";
    EXPECT_GT(core.nap_ns(5 + second_ns), 10 * ms_ns);
    EXPECT_GT(core.nap_ns(1), 10 * ms_ns) << "the clock was set back";
}

TEST(CoreDeathTest, a_step_before_start_or_after_stop_is_our_own_mistake) {
    CoreScene early;
    EXPECT_DEATH(early.core->step(1), "State::running");
    CoreScene late;
    late.core->start();
    late.core->drain(1);
    late.core->stop();
    EXPECT_DEATH(late.core->step(2), "State::running");
}

TEST(Core, counts_messages_not_records_and_broadcasts_separately) {
    CoreScene scene;
    const auto series = series_of("SPX");
    scene.push({quote_of(series, 1, 3), Event{}, Event{}, quote_of(series, 2),
                control_of('P', feed::Forget::quotes, 3), gap_of(4, 9, feed::GapCause::line)});
    scene.core->start();
    EXPECT_EQ(scene.core->step(1), 6U);
    const CoreCounters& counters = scene.core->counters();
    EXPECT_EQ(counters.read(CoreCount::events), 2U);
    EXPECT_EQ(counters.read(CoreCount::control_events), 1U);
    EXPECT_EQ(counters.read(CoreCount::gap_events), 1U);
    EXPECT_EQ(counters.read(CoreCount::records), 6U);
    EXPECT_EQ(scene.core->actor_counters(0).events.read(), 2U);
    scene.core->drain(2);
    scene.core->stop();
}

TEST(Core, a_message_that_does_not_fit_into_the_batch_comes_whole_in_the_next) {
    CoreScene scene;
    std::vector<Event> events;
    for (std::uint32_t i = 0; i < 255; ++i) {
        events.push_back(quote_of(series_of("A"), i));
    }
    events.push_back(quote_of(series_of("A"), 255, 2));
    events.push_back(Event{});
    scene.push(events);
    scene.core->start();
    EXPECT_EQ(scene.core->step(1), 255U);
    EXPECT_EQ(scene.core->step(2), 2U);
    EXPECT_EQ(scene.pages.back(), "a 255");
    scene.core->drain(3);
    scene.core->stop();
    EXPECT_EQ(scene.core->counters().read(CoreCount::events), 256U);
}

TEST(Core, gives_each_actor_what_it_wants_and_losses_and_controls_always) {
    Interest trades;
    trades.kinds = feed::bit_of(EventKind::trade);
    Interest spx;
    spx.underlyings = {"SPX"};
    CoreScene scene{1, {trades, spx}};
    Event trade = quote_of(series_of("SPY"), 3);
    trade.header.kind = EventKind::trade;
    Event text = quote_of(series_of(""), 7);  // of no symbol
    text.header.kind = EventKind::text;
    scene.push({quote_of(series_of("SPX"), 1), quote_of(series_of("SPY"), 2), trade,
                gap_of(4, 4, feed::GapCause::line), quote_of(series_of("SPX"), 5, 2), Event{},
                quote_of(series_of("SPX"), 6), text});
    scene.core->start();
    scene.pages.clear();
    scene.core->step(1);
    EXPECT_EQ(scene.pages, (Pages{"a 3 4", "b 1", "b 4 5 6 7"}));
    EXPECT_EQ(scene.core->actor_counters(0).events.read(), 1U);
    EXPECT_EQ(scene.core->actor_counters(1).events.read(), 4U);
    scene.core->drain(2);
    scene.core->stop();
}

TEST(Core, a_replay_of_some_underlyings_gives_no_actor_data_of_others) {
    Interest spx;
    spx.underlyings = {"SPX"};
    Interest both;
    both.underlyings = {"SPX", "SPY"};
    CoreScene scene{1, {{}, spx, both}, {"SPY", "QQQ"}};
    scene.push({quote_of(series_of("SPX"), 1), quote_of(series_of("SPY"), 2),
                gap_of(3, 3, feed::GapCause::line), quote_of(series_of("QQQ"), 4)});
    scene.core->start();
    scene.pages.clear();
    scene.core->step(1);
    std::string of_all;
    for (const std::string& page : scene.pages) {
        of_all += page + ";";
    }
    EXPECT_EQ(of_all, "a 2 3 4;b 3;c 2 3;");
}

TEST(Core, gives_an_actor_that_is_held_back_only_what_comes_after_its_begin) {
    CoreScene scene{1, {{}, {}}};
    std::atomic<bool> begins{false};
    scene.core->hold_back(1, begins);
    scene.core->start();
    scene.push({quote_of(series_of("A"), 1)});
    scene.core->step(1);
    begins = true;
    scene.push({quote_of(series_of("A"), 2)});
    scene.core->step(2);
    EXPECT_EQ(scene.pages, (Pages{"a start core0", "b start core0", "a 1", "a 2", "b 2"}));
    EXPECT_EQ(scene.core->actor_counters(1).events.read(), 1U);
}

TEST(Core, announces_series_between_the_start_of_all_and_the_first_message) {
    Interest spx;
    spx.underlyings = {"SPX"};
    Interest quotes;
    quotes.kinds = feed::bit_of(EventKind::quote);
    CoreScene scene{1, {{}, spx, quotes}};
    std::vector<feed::SeriesMap> announced(255, {series_of("SPY"), 1});
    announced.push_back({series_of("SPX"), 96});
    announced.push_back({series_of("QQQ"), 2});
    scene.core->announce(announced);
    scene.push({quote_of(series_of("SPX"), 7)});
    scene.core->start();
    std::string zeros;
    for (int i = 0; i < 256; ++i) {
        zeros += " 0";
    }
    EXPECT_EQ(scene.pages, (Pages{"a start core0", "b start core0", "c start core0", "a" + zeros,
                                  "a 0", "b 0"}));
    EXPECT_EQ(scene.core->counters().read(CoreCount::announced_series), 257U);
    EXPECT_EQ(scene.core->counters().read(CoreCount::events), 0U);
    EXPECT_EQ(scene.core->actor_counters(0).events.read(), 0U);
    scene.core->step(1);
    EXPECT_EQ(scene.pages.back(), "c 7");
    scene.core->drain(2);
    scene.core->stop();
}

TEST(Core, an_announced_series_is_a_series_map_of_its_own_line) {
    class Keeper : public Actor {
      public:
        explicit Keeper(std::vector<Event>& kept) : kept_(kept) {}

        [[nodiscard]] std::string_view name() const override { return "keeper"; }

        void on_events(EventBatch batch) override {
            kept_.insert(kept_.end(), batch.records().begin(), batch.records().end());
        }

      private:
        std::vector<Event>& kept_;
    };

    std::vector<Event> kept;
    std::vector<std::unique_ptr<Actor>> actors;
    actors.push_back(std::make_unique<Keeper>(kept));
    Core core{CoreOptions{}, {}, std::move(actors)};
    core.announce({{series_of("SPX"), 96}});
    core.start();
    ASSERT_EQ(kept.size(), 1U);
    EXPECT_EQ(kept[0].header.kind, EventKind::series_map);
    EXPECT_EQ(kept[0].header.flags, feed::flag_from_file);
    EXPECT_EQ(kept[0].header.line, 96);
    EXPECT_EQ(kept[0].header.records, 1);
    EXPECT_EQ(kept[0].header.type, 'A');
    EXPECT_EQ(kept[0].body.series_map, (feed::SeriesMap{series_of("SPX"), 96}));
    core.stop();
}

TEST(Core, reads_every_ring_each_step) {
    CoreScene scene{2};
    scene.push({quote_of(series_of("A"), 1)}, 0);
    scene.push({quote_of(series_of("A"), 2)}, 1);
    scene.core->start();
    EXPECT_EQ(scene.core->step(1), 2U);
    EXPECT_FALSE(scene.core->has_work());
    scene.core->drain(2);
    scene.core->stop();
}

TEST(Core, separates_busy_time_from_idle_time) {
    CoreScene scene;
    scene.core->start();
    scene.core->step(1000);
    scene.core->step(1100);  // the step at 1000 found nothing
    scene.push({quote_of(series_of("A"), 1)});
    scene.core->step(1200);
    scene.core->step(1250);  // the step at 1200 worked
    EXPECT_EQ(scene.core->counters().idle_ns.read(), 200U);
    EXPECT_EQ(scene.core->counters().busy_ns.read(), 50U);
    EXPECT_EQ(scene.core->counters().longest_step_ns.read(), 50U);
    scene.core->drain(1300);
    scene.core->stop();
}

/// Messages arrive while the core's thread is still starting, and until the test stops it.
TEST(CoreStress, messages_that_arrive_while_binding_wait_for_start) {
    class Strict : public Actor {
      public:
        [[nodiscard]] std::string_view name() const override { return "strict"; }

        void on_start(const CoreInfo&) override {
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
            started_ = true;
        }

        void on_events(EventBatch batch) override {
            EXPECT_TRUE(started_);
            EXPECT_FALSE(stopped_);
            for (const Event& event : batch) {
                EXPECT_EQ(event.header.sequence, next_++);
            }
        }

        void on_stop() override {
            EXPECT_EQ(next_, 20'000U);
            stopped_ = true;
        }

      private:
        bool started_ = false;
        bool stopped_ = false;
        std::uint32_t next_ = 0;
    };

    auto halves = Ring<Event>::make(1024);
    std::vector<Consumer<Event>> rings;
    rings.push_back(std::move(halves.consumer));
    std::vector<std::unique_ptr<Actor>> actors;
    actors.push_back(std::make_unique<Strict>());
    Core core{CoreOptions{}, std::move(rings), std::move(actors)};
    std::atomic<bool> produced{false};
    std::thread poller{[&, producer = std::move(halves.producer)]() mutable {
        for (std::uint32_t i = 0; i < 20'000;) {
            const Event event = quote_of(series_of("A"), i);
            if (producer.try_push({&event, 1})) {
                ++i;
            } else {
                std::this_thread::yield();
            }
        }
        produced = true;
    }};
    core.start();
    std::int64_t now_ns = 1;
    while (!produced) {
        if (core.step(++now_ns) == 0) {
            std::this_thread::yield();
        }
    }
    poller.join();
    core.drain(++now_ns);
    core.stop();
}

}  // namespace
}  // namespace pinstrike::actors
