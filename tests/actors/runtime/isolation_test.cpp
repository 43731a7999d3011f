// Measures an actor alone. The tests check the size of a figure only where the handler guarantees a
// minimum.
#include "actors/runtime/isolation.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <vector>

namespace pinstrike::actors::runtime {
namespace {

struct Numbered {
    std::uint64_t value;
};

/// The calls that all copies of an actor got.
struct Seen {
    std::atomic<int> starts{0};
    std::atomic<int> stops{0};
    std::atomic<std::uint64_t> messages{0};
    std::atomic<bool> out_of_place{false};  ///< before the start or after the stop
};

class Recorder : public MailboxActor {
  public:
    explicit Recorder(Seen& seen, Bounds bounds = {}) : numbers(this, bounds), seen_(seen) {}

    Mailbox<Numbered> numbers;

    void on_start() override {
        running_ = true;
        ++seen_.starts;
    }

    void on(Numbered&) {
        ++seen_.messages;
        if (!running_) {
            seen_.out_of_place = true;
        }
    }

    void on_stop() override {
        running_ = false;
        ++seen_.stops;
    }

  private:
    Seen& seen_;
    bool running_ = false;
};

Isolation measure_recorder(Seen& seen, const IsolationOptions& options, Bounds bounds = {}) {
    const std::vector<Numbered> recorded(10);
    return measure_actor(
        options, std::span<const Numbered>{recorded}, &Recorder::numbers,
        [&](Executor& executor) -> Recorder& { return executor.add<Recorder>(seen, bounds); });
}

TEST(Isolation, start_warm_pass_and_stop_are_not_counted) {
    Seen seen;
    const Isolation measured = measure_recorder(seen, {.messages = 100, .batch = 8});
    ASSERT_EQ(measured.copies.size(), 1U);
    EXPECT_EQ(measured.copies[0].messages(), 100U);
    EXPECT_EQ(measured.copies[0].batches(), 13U);  // 12 of 8 messages, one of 4
    EXPECT_EQ(seen.messages, 100U + 10U) << "and the recording, to warm";
    EXPECT_EQ(seen.starts, 1);
    EXPECT_EQ(seen.stops, 1);
    EXPECT_FALSE(seen.out_of_place);
    EXPECT_GT(measured.clock_ns, 0);
}

TEST(Isolation, a_batch_is_no_larger_than_the_mailbox) {
    Seen seen;
    const Isolation measured =
        measure_recorder(seen, {.messages = 100, .batch = 50}, Bounds{.most = 5});
    EXPECT_EQ(measured.copies[0].messages(), 100U);
    EXPECT_EQ(measured.copies[0].batches(), 20U);
}

TEST(Isolation, every_copy_is_measured) {
    Seen seen;
    const Isolation measured = measure_recorder(seen, {.messages = 1000, .batch = 10, .copies = 3});
    ASSERT_EQ(measured.copies.size(), 3U);
    for (const ServiceTimes& copy : measured.copies) {
        EXPECT_EQ(copy.messages(), 1000U);
        EXPECT_LE(copy.ns(0), copy.ns(0.5));
        EXPECT_LE(copy.ns(0.5), copy.ns(1));
    }
    EXPECT_EQ(seen.starts, 3);
    EXPECT_EQ(seen.stops, 3);
    EXPECT_GE(seen.messages, 3U * 1010U);
}

class Slow : public MailboxActor {
  public:
    static constexpr std::chrono::microseconds takes{20};

    Mailbox<Numbered> numbers{this};

    void on(Numbered&) {
        const auto until = std::chrono::steady_clock::now() + takes;
        while (std::chrono::steady_clock::now() < until) {
        }
    }
};

TEST(Isolation, the_figure_is_that_of_one_message) {
    const std::vector<Numbered> recorded(4);
    const Isolation measured = measure_actor(
        {.messages = 40, .batch = 4}, std::span<const Numbered>{recorded}, &Slow::numbers,
        [](Executor& executor) -> Slow& { return executor.add<Slow>(); });
    // A batch takes four times as long, so the lowest figure shows whether it is that of a message.
    EXPECT_GE(measured.copies[0].ns(0), 19'900);
    EXPECT_LT(measured.copies[0].ns(0), 4 * 20'000);
    EXPECT_GE(measured.copies[0].mean_ns(), 19'900);
}

class Ending : public MailboxActor {
  public:
    explicit Ending(bool fails) : fails_(fails) {}

    Mailbox<Numbered> numbers{this};

    void on(Numbered&) {
        if (++told_ < 30) {
            return;
        }
        if (fails_) {
            throw std::runtime_error{"enough"};
        }
        finish();
    }

  private:
    bool fails_;
    int told_ = 0;
};

std::string complaint_of(bool fails, unsigned copies) {
    const std::vector<Numbered> recorded(10);
    try {
        static_cast<void>(measure_actor(
            {.messages = 100, .batch = 10, .copies = copies}, std::span<const Numbered>{recorded},
            &Ending::numbers,
            [&](Executor& executor) -> Ending& { return executor.add<Ending>(fails); }));
    } catch (const std::runtime_error& error) {
        return error.what();
    }
    return "";
}

TEST(Isolation, an_actor_that_ends_too_early_is_reported) {
    EXPECT_EQ(complaint_of(false, 1), "after 30 messages: it has ended");
    EXPECT_EQ(complaint_of(true, 1), "after 30 messages: its handler threw an exception");
    EXPECT_EQ(complaint_of(true, 3), "after 30 messages: its handler threw an exception")
        << "nobody hangs";
}

TEST(Isolation, nothing_to_measure_is_refused) {
    Seen seen;
    EXPECT_THROW(measure_recorder(seen, {.messages = 0}), std::invalid_argument);
    EXPECT_THROW(measure_recorder(seen, {.batch = 0}), std::invalid_argument);
    EXPECT_THROW(measure_recorder(seen, {.copies = 0}), std::invalid_argument);
    EXPECT_THROW(
        static_cast<void>(measure_actor(
            {}, std::span<const Numbered>{}, &Recorder::numbers,
            [&](Executor& executor) -> Recorder& { return executor.add<Recorder>(seen); })),
        std::invalid_argument);
}

TEST(Isolation, the_table_has_a_row_a_copy_and_one_for_all) {
    Seen seen;
    const std::string one = isolation_text("recorder", measure_recorder(seen, {.messages = 100}));
    EXPECT_EQ(std::count(one.begin(), one.end(), '\n'), 2);
    EXPECT_NE(one.find("alone"), std::string::npos);
    const std::string two =
        isolation_text("recorder", measure_recorder(seen, {.messages = 100, .copies = 2}));
    EXPECT_EQ(std::count(two.begin(), two.end(), '\n'), 4);
    EXPECT_NE(two.find("copy 2 of 2"), std::string::npos);
    EXPECT_NE(two.find("all together"), std::string::npos);
}

}  // namespace
}  // namespace pinstrike::actors::runtime
