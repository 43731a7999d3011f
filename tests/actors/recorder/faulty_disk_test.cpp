// path: cold
//
// The recorder on a disk with faults: writes that end in another order, late, in part or with an
// error, and sectors that are torn.
#include "tests/actors/recorder/recorder_fixture.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace pinstrike::actors {
namespace {

using namespace recorder_fixture;

class Chance {
  public:
    explicit Chance(unsigned seed) : random_(seed) {}

    std::size_t pick(std::size_t least, std::size_t most) {
        return std::uniform_int_distribution<std::size_t>{least, most}(random_);
    }

    bool happens(double probability) { return std::bernoulli_distribution{probability}(random_); }

    auto& random() { return random_; }

  private:
    std::mt19937_64 random_;
};

struct Faults {
    double error = 0;
    double shortened = 0;
    std::size_t steps_most = 0;  ///< until a write ends
};

constexpr Faults healthy{};
constexpr Faults gone{1, 0, 2};
constexpr Faults slow{0, 0.1, 300};
constexpr Faults flaky{0.1, 0.3, 5};
constexpr Faults late{0, 0, 20};

/// What the disk did so far.
struct Deeds {
    std::size_t errors = 0;
    std::size_t shortened = 0;
    std::size_t overtaken = 0;        ///< writes that ended before an earlier one
    std::size_t beside_removals = 0;  ///< writes that ended while a file was being removed
};

/// Has faults with the chunks. Heads of segments and indexes go to the real disk.
class FaultyDisk final : public DiskQueue {
  public:
    FaultyDisk(Chance& chance, const Faults& faults, Deeds& deeds)
        : chance_(chance), faults_(faults), deeds_(deeds) {}

    void add(const Order& order) override {
        for (const std::uint64_t each : {order.offset, order.bytes.size()}) {
            EXPECT_EQ(each % nic::chunk_alignment_bytes, 0U) << "O_DIRECT would refuse it";
        }
        pending_.push_back({order, step_ + chance_.pick(0, faults_.steps_most)});
    }

    void remove(const std::string& path, void* of) override {
        EXPECT_TRUE(removals_.empty()) << "one segment at a time";
        EXPECT_TRUE(std::filesystem::exists(path)) << path;
        removals_.push_back({path, of, step_ + chance_.pick(0, faults_.steps_most)});
    }

    void submit() override { ++step_; }

    [[nodiscard]] std::optional<Ended> next_ended() override {
        if (!removals_.empty() && removals_.front().due_step <= step_) {
            const Removal removal = removals_.front();
            removals_.erase(removals_.begin());
            return Ended{removal.of, ::unlink(removal.path.c_str()) == 0 ? 0 : -errno};
        }
        std::vector<std::size_t> due;
        for (std::size_t i = 0; i < pending_.size(); ++i) {
            if (pending_[i].due_step <= step_) {
                due.push_back(i);
            }
        }
        if (due.empty()) {
            return std::nullopt;
        }
        const std::size_t chosen = due[chance_.pick(0, due.size() - 1)];
        deeds_.overtaken += chosen != 0 ? 1 : 0;
        deeds_.beside_removals += removals_.empty() ? 0 : 1;
        const Order order = pending_[chosen].order;
        pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(chosen));
        return Ended{order.of, write(order)};
    }

  private:
    struct Pending {
        Order order;
        std::size_t due_step;
    };

    struct Removal {
        std::string path;
        void* of;
        std::size_t due_step;
    };

    int write(const Order& order) {
        // Through the page cache, because a part of a chunk is not aligned.
        const nic::FileDescriptor file{
            ::open(fmt::format("/proc/self/fd/{}", order.fd).c_str(), O_WRONLY | O_CLOEXEC)};
        const auto put = [&](std::size_t at, std::size_t bytes) {
            const auto part = order.bytes.subspan(at, bytes);
            EXPECT_EQ(
                ::pwrite(file.get(), part.data(), bytes, static_cast<off_t>(order.offset + at)),
                static_cast<ssize_t>(bytes));
        };
        if (chance_.happens(faults_.error)) {
            ++deeds_.errors;
            constexpr std::size_t sector_bytes = 512;
            for (std::size_t at = 0; at < order.bytes.size(); at += sector_bytes) {
                if (chance_.happens(0.5)) {
                    put(at, sector_bytes);
                }
            }
            return -EIO;
        }
        std::size_t bytes = order.bytes.size();
        if (chance_.happens(faults_.shortened)) {
            ++deeds_.shortened;
            bytes = chance_.pick(1, bytes - 1);
        }
        put(0, bytes);
        return static_cast<int>(bytes);
    }

    Chance& chance_;
    const Faults& faults_;
    Deeds& deeds_;
    std::vector<Pending> pending_;
    std::vector<Removal> removals_;
    std::size_t step_ = 0;
};

class OnAFaultyDisk : public Recorder {
  protected:
    void begin(unsigned seed, const RecordConfig& config = of_segments(std::size_t{16} << 20)) {
        std::filesystem::remove_all(folder_);
        chance_ = Chance{seed};
        faults_ = healthy;
        sent_ = 0;
        numbers_.clear();
        open(config, std::make_unique<FaultyDisk>(chance_, faults_, deeds_));
    }

    static RecordConfig of_segments(std::size_t bytes) {
        RecordConfig config;
        config.segment_bytes = bytes;
        return config;
    }

    /// Records some frames and lets the disk work.
    void go_on() {
        for (std::size_t left = chance_.pick(1, 60); left != 0; --left) {
            const std::uint64_t recorded = recorder_->recorded().read();
            record(chance_.pick(60, 1500), static_cast<std::uint32_t>(chance_.pick(0, 4)));
            if (recorder_->recorded().read() != recorded) {
                numbers_.push_back(sent_ - 1);
            }
        }
        if (chance_.happens(0.7)) {
            recorder_->close();
        }
        step(chance_.pick(0, 30));
    }

    void step(std::size_t steps) {
        for (; steps != 0; --steps) {
            now_ns_ += 50 * ms_ns;
            task_->step(now_ns_);
        }
    }

    void change_faults() {
        const std::array<Faults, 4> kinds{healthy, gone, slow, flaky};
        faults_ = kinds.at(chance_.pick(0, kinds.size() - 1));
    }

    void expect_balance() const {
        EXPECT_EQ(recorder_->recorded().read(), numbers_.size());
        EXPECT_EQ(recorder_->recorded().read() + recorder_->not_recorded().read(), sent_);
    }

    Chance chance_{0};
    Faults faults_;
    Deeds deeds_;
    std::vector<std::size_t> numbers_;  ///< of the frames that found a chunk
};

TEST_F(OnAFaultyDisk, everything_is_written_in_order_once_the_disk_is_well_again) {
    std::uint64_t not_recorded = 0;
    for (unsigned seed = 0; seed < 60; ++seed) {
        SCOPED_TRACE(seed);
        begin(seed);
        bool was_failing = false;
        for (int round = 0; round < 60; ++round) {
            if (round % 10 == 0) {
                change_faults();
            }
            go_on();
            was_failing = was_failing || task_->counters().error.read() != 0;
        }
        faults_ = healthy;
        recorder_->close();
        step(600);
        EXPECT_EQ(count(RecorderCount::written), numbers_.size());
        EXPECT_EQ(task_->counters().error.read(), 0U) << "it has not resumed";
        EXPECT_EQ(was_failing, count(RecorderCount::failures) != 0);
        expect_balance();
        not_recorded += recorder_->not_recorded().read();
        finish();
        EXPECT_EQ(replayed(), numbers_);
        EXPECT_EQ(complaint_, "");
        for (const std::string& path : segments()) {
            Problems problems;
            EXPECT_TRUE(feed::SegmentFile::open(path, problems)->index()) << path;
        }
    }
    EXPECT_GT(not_recorded, 0U);
    EXPECT_GT(std::min({deeds_.errors, deeds_.shortened, deeds_.overtaken}), 100U);
}

TEST_F(OnAFaultyDisk, what_a_failed_disk_never_took_is_counted) {
    for (unsigned seed = 0; seed < 30; ++seed) {
        SCOPED_TRACE(seed);
        begin(seed);
        for (int round = 0; round < 20; ++round) {
            faults_ = round < 5 ? healthy : flaky;
            go_on();
        }
        faults_ = gone;
        go_on();
        recorder_->close();
        task_->finish(now_ns_);
        EXPECT_GT(count(RecorderCount::unwritten), 0U);
        EXPECT_EQ(count(RecorderCount::written) + count(RecorderCount::unwritten), numbers_.size());
        expect_balance();
        numbers_.resize(count(RecorderCount::written));
        task_.reset();
        EXPECT_EQ(replayed(), numbers_);
    }
}

/// `kill -9` at any moment: what was counted as written is there after the next start.
TEST_F(OnAFaultyDisk, a_kill_loses_only_chunks_that_were_not_written) {
    std::size_t more = 0;
    for (unsigned seed = 0; seed < 100; ++seed) {
        SCOPED_TRACE(seed);
        begin(seed);
        for (std::size_t round = chance_.pick(1, 60); round != 0; --round) {
            if (round % 7 == 0) {
                change_faults();
            }
            go_on();
        }
        const std::uint64_t written = count(RecorderCount::written);
        task_.reset();
        start_again();
        const std::vector<std::size_t> found = replayed();
        EXPECT_TRUE(std::ranges::is_sorted(found, std::less_equal{})) << "twice, or another order";
        EXPECT_TRUE(std::ranges::includes(numbers_, found));
        ASSERT_GE(found.size(), written);
        EXPECT_TRUE(std::equal(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(written),
                               numbers_.begin()));
        more += found.size() - written;
    }
    EXPECT_GT(more, 0U) << "chunks that were on disk, but not counted yet";
}

TEST_F(OnAFaultyDisk, chunks_are_written_while_old_segments_are_removed) {
    RecordConfig config = of_segments(2 * nic::chunk_bytes_max);
    config.keep_bytes = 3 * nic::chunk_bytes_max;
    for (unsigned seed = 0; seed < 10; ++seed) {
        SCOPED_TRACE(seed);
        begin(seed, config);
        faults_ = late;
        for (int round = 0; round < 300; ++round) {
            go_on();
        }
        recorder_->close();
        step(600);
        EXPECT_GT(count(RecorderCount::removed), 1U);
        std::uint64_t bytes = 0;
        for (const std::string& path : segments()) {
            bytes += std::filesystem::file_size(path);
        }
        EXPECT_LE(bytes, config.keep_bytes);
        expect_balance();
        finish();
        const std::vector<std::size_t> found = replayed();
        ASSERT_LT(found.size(), numbers_.size());
        ASSERT_FALSE(found.empty());
        EXPECT_TRUE(std::equal(found.rbegin(), found.rend(), numbers_.rbegin()))
            << "the oldest are missing";
    }
    EXPECT_GT(deeds_.beside_removals, 0U);
}

}  // namespace
}  // namespace pinstrike::actors
