// path: cold
//
// The repair rings between pollers and recovery, and the recovery task.
#include "actors/recovery/recovery_task.h"

#include "actors/appliance/thread_loops.h"
#include "config/time_units.h"
#include "feed/event/limits.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace pinstrike::actors {
namespace {

constexpr feed::Position base = 2 * feed::Numbering{}.last;

/// Bytes that identify the block.
std::vector<std::byte> block_of(std::uint32_t which) {
    std::vector<std::byte> bytes(which * 37 % 1500);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = static_cast<std::byte>(which + i * 7);
    }
    return bytes;
}

TEST(RepairRings, bring_every_block_whole_and_in_order) {
    auto [ends, others] = make_repair_rings({1, 2, 3});
    std::uint32_t given = 0;
    std::uint32_t taken = 0;
    while (given < 20'000) {  // many times around the ring
        for (int i = 0; i < 40; ++i) {
            ASSERT_TRUE(others.carry(given % 3, block_of(given)));
            ++given;
        }
        const auto take = [&](std::uint32_t line, std::span<const std::byte> bytes) {
            const std::vector<std::byte> expected = block_of(taken);
            ASSERT_EQ(line, taken % 3);
            ASSERT_EQ(std::vector<std::byte>(bytes.begin(), bytes.end()), expected);
            ++taken;
        };
        while (ends->read_repairs(take) != 0) {
        }
    }
    EXPECT_EQ(taken, given);
    EXPECT_EQ(ends->repairs_read().read(), given);
}

TEST(RepairRings, refuse_what_finds_no_room) {
    auto [ends, others] = make_repair_rings({1});
    const std::vector<std::byte> block(1000);
    std::size_t carried = 0;
    while (others.carry(0, block)) {
        ++carried;
    }
    EXPECT_EQ(carried, PollerRepairRings::repairs_slots / record_slots<RepairRecord>(1000));
    EXPECT_FALSE(others.carry(0, std::vector<std::byte>(feed::kept_block_bytes_max + 1)));
    for (std::size_t i = 0; i < PollerRepairRings::notes_slots + 5; ++i) {
        ends->note({base + i, base + i + 1, 0, 0, 0, RepairNote::Kind::missing});
    }
    EXPECT_EQ(ends->notes_dropped().read(), 5U);
}

TEST(RepairRings, join_two_threads) {
    constexpr std::uint32_t blocks = 5'000;
    auto [ends, others] = make_repair_rings({1});
    std::thread recovery{[&rings = others] {
        for (std::uint32_t which = 0; which < blocks;) {
            if (rings.carry(0, block_of(which))) {
                ++which;
            } else {
                std::this_thread::yield();
            }
            const auto notes = rings.notes.peek(100);
            rings.notes.release(notes.size());
        }
    }};
    std::uint32_t taken = 0;
    while (taken < blocks) {
        ends->read_repairs([&](std::uint32_t, std::span<const std::byte> bytes) {
            EXPECT_EQ(std::vector<std::byte>(bytes.begin(), bytes.end()), block_of(taken));
            ++taken;
            ends->note({base, base + 1, 0, 0, 0, RepairNote::Kind::missing});
        });
    }
    recovery.join();
}

/// A source that answers each request with one block in its next step.
class Bringer final : public feed::RepairSource {
  public:
    explicit Bringer(std::vector<feed::RepairRequest>& asked) : asked_(asked) {}

    [[nodiscard]] std::string_view name() const override { return "bringer"; }

    [[nodiscard]] std::optional<feed::Refusal> request(const feed::RepairRequest& request,
                                                       std::int64_t) override {
        asked_.push_back(request);
        return std::nullopt;
    }

    void cancel(std::uint64_t) override {}

    std::size_t step(std::int64_t, feed::RepairAnswers& answers) override {
        for (; told_ < asked_.size(); ++told_) {
            answers.block(asked_[told_].line, block_of(feed::serial_of(asked_[told_].first)));
            answers.block(999, block_of(1));  // no such line
            answers.finished(asked_[told_].id);
        }
        return 0;
    }

  private:
    std::vector<feed::RepairRequest>& asked_;
    std::size_t told_ = 0;
};

struct RecoveryScene {
    RecoveryScene() {
        std::vector<RecoveryRepairRings> rings;
        for (const auto& lines : {std::vector<std::uint16_t>{1, 2}, {7}}) {
            auto [ends, others] = make_repair_rings(lines);
            pollers.push_back(std::move(ends));
            rings.push_back(std::move(others));
        }
        feed::RecoveryConfig config;
        config.request_after_ns = 1 * ms_ns;
        config.give_up_after_ns = 10'000 * ms_ns;
        std::vector<std::unique_ptr<feed::RepairSource>> sources;
        sources.push_back(std::make_unique<Bringer>(asked));
        task = std::make_unique<RecoveryTask>(config, std::move(rings), std::move(sources),
                                              feed::Numbering{});
        task->step(start_ns);
    }

    /// A poller notes that a number is missing.
    void missing(std::size_t poller, std::uint32_t line, std::uint32_t number) {
        pollers[poller]->note(
            {base + number, base + number + 1, 1, 2, line, RepairNote::Kind::missing});
    }

    [[nodiscard]] std::uint64_t count(feed::RecoveryCount which) const {
        return task->recovery().counters().read(which);
    }

    static constexpr std::int64_t start_ns = 1'000'000 * ms_ns;
    std::vector<std::unique_ptr<PollerRepairRings>> pollers;
    std::vector<feed::RepairRequest> asked;
    std::unique_ptr<RecoveryTask> task;
};

TEST(RecoveryTask, asks_for_what_pollers_note_and_brings_it_to_the_line) {
    RecoveryScene scene;
    scene.missing(0, 1, 20);
    scene.missing(1, 0, 70);
    scene.task->step(RecoveryScene::start_ns + 1 * ms_ns);
    scene.task->step(RecoveryScene::start_ns + 2 * ms_ns);
    ASSERT_EQ(scene.asked.size(), 2U);
    EXPECT_EQ(scene.asked[0].line, 2U);
    EXPECT_EQ(scene.asked[1].line, 7U);
    EXPECT_EQ(scene.asked[1].first, 70U);
    scene.task->step(RecoveryScene::start_ns + 3 * ms_ns);
    std::vector<std::uint32_t> lines;
    for (const auto& poller : scene.pollers) {
        poller->read_repairs([&](std::uint32_t line, std::span<const std::byte> bytes) {
            lines.push_back(line);
            EXPECT_EQ(bytes.size(), block_of(lines.size() == 1 ? 20 : 70).size());
        });
    }
    EXPECT_EQ(lines, (std::vector<std::uint32_t>{1, 0}));
    EXPECT_EQ(scene.count(feed::RecoveryCount::repairs_dropped), 2U) << "of no line";
}

TEST(RecoveryTask, a_clock_that_jumps_gives_nothing_up_and_holds_nothing_up) {
    RecoveryScene scene;
    const std::int64_t hour_ns = 3'600'000 * ms_ns;
    scene.missing(0, 0, 20);
    scene.task->step(RecoveryScene::start_ns + hour_ns);
    EXPECT_EQ(scene.count(feed::RecoveryCount::open), 1U);
    scene.task->step(RecoveryScene::start_ns - hour_ns);
    EXPECT_EQ(scene.asked.size(), 0U);
    scene.task->step(RecoveryScene::start_ns - hour_ns + 1 * ms_ns);
    EXPECT_EQ(scene.asked.size(), 1U);
    EXPECT_EQ(scene.count(feed::RecoveryCount::open), 1U);
}

TEST(RecoveryTask, naps_no_longer_than_until_there_is_something_to_ask) {
    RecoveryScene scene;
    EXPECT_EQ(scene.task->nap_ns(), 500'000);
    scene.missing(0, 0, 20);
    scene.task->step(RecoveryScene::start_ns + 1);
    scene.task->step(RecoveryScene::start_ns + 1 * ms_ns - 99'999);
    EXPECT_EQ(scene.task->nap_ns(), 100'000);
    scene.task->step(RecoveryScene::start_ns + 1 * ms_ns + 1);
    EXPECT_EQ(scene.task->recovery().in_flight(), 1U);
    EXPECT_EQ(scene.task->nap_ns(), 200'000);
}

/// Throws in its step, as a source that cannot open a descriptor does.
struct FailingSource final : feed::RepairSource {
    [[nodiscard]] std::string_view name() const override { return "failing"; }

    [[nodiscard]] std::optional<feed::Refusal> request(const feed::RepairRequest& /*request*/,
                                                       std::int64_t /*now_ns*/) override {
        return feed::Refusal::not_connected;
    }

    void cancel(std::uint64_t /*id*/) override {}

    std::size_t step(std::int64_t /*now_ns*/, feed::RepairAnswers& /*answers*/) override {
        throw std::system_error{EMFILE, std::generic_category(), "socket"};
    }
};

TEST(RecoveryTask, whose_source_throws_ends_alone) {
    auto [ends, others] = make_repair_rings({1});
    std::vector<RecoveryRepairRings> rings;
    rings.push_back(std::move(others));
    std::vector<std::unique_ptr<feed::RepairSource>> sources;
    sources.push_back(std::make_unique<FailingSource>());
    RecoveryTask task{{}, std::move(rings), std::move(sources), feed::Numbering{}};
    ThreadControl control;
    const nic::Clock clock;
    RecoveryTasks tasks;
    tasks.recovery = &task;
    std::thread thread{[&] { run_recovery(tasks, -1, clock, control); }};
    thread.join();  // ended by itself, without a request to stop
    EXPECT_TRUE(control.ended.load());
    EXPECT_EQ(control.failure, "socket: Too many open files");
    task.finish();
}

TEST(RecoveryTask, hears_the_last_notes_at_its_end) {
    RecoveryScene scene;
    scene.missing(0, 0, 20);
    scene.task->step(RecoveryScene::start_ns + 1 * ms_ns);
    scene.task->step(RecoveryScene::start_ns + 2 * ms_ns);
    for (std::uint32_t number = 0; number < 3000; ++number) {
        scene.missing(1, 0, 100 + 2 * number);
    }
    scene.pollers[0]->note({base + 20, base + 21, 0, 0, 0, RepairNote::Kind::found});
    scene.task->finish();
    EXPECT_EQ(scene.count(feed::RecoveryCount::repaired), 1U);
    EXPECT_EQ(scene.count(feed::RecoveryCount::never_asked), 3000U);
    EXPECT_EQ(scene.count(feed::RecoveryCount::open), 0U);
}

}  // namespace
}  // namespace pinstrike::actors
