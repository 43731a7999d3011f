// path: cold
//
// Snapshots from the books' rings to the disk and back.
#include "actors/snapshot/snapshot_task.h"

#include "actors/peer/state_frames.h"
#include "actors/recorder/recorder_task.h"
#include "actors/snapshot/snapshot_reader.h"
#include "config/time_units.h"
#include "feed/recording/segment_file.h"
#include "feed/venue_services.h"
#include "tests/actors/peer/sessions.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace pinstrike::actors {
namespace {

namespace fs = std::filesystem;
using Kind = StateRecord::Kind;
using peer::test::Bytes;
using peer::test::quoted;
using peer::test::state_of_series;

constexpr std::int64_t start_ns = 1'764'426'600 * second_ns;

Bytes frame_of(const StateRecord& record) {
    peer::FrameWriter writer;
    peer::put(writer, peer::StateFrame{0, record});
    return {writer.waiting().begin(), writer.waiting().end()};
}

StateRecord of_line(Kind kind, std::uint16_t line) {
    StateRecord record;
    record.kind = kind;
    record.line = line;
    record.place.sequence = 7;
    return record;
}

class Snapshots : public testing::Test {
  protected:
    void SetUp() override {
        std::string name = testing::TempDir() + "snapshots-XXXXXX";
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        folder_ = name + "/record";
        for (int core = 0; core < 2; ++core) {
            auto [near, far] = StateRings::make();
            books_.push_back(std::move(near));
            rings_.emplace_back(std::move(far));
        }
        exchange_ = std::make_unique<peer::StateExchange>(Sharding::series, std::move(rings_));
        auto [chunks, written] = make_state_chunks();
        task_ = std::make_unique<SnapshotTask>(
            SnapshotSetup{60 * second_ns, [this] { return packets_; }}, *exchange_,
            std::move(chunks));
        RecordConfig config;
        config.folder = folder_;
        config.free_bytes = 0;
        config.memory_bytes = 4 * nic::chunk_bytes_max;
        const std::vector<std::uint16_t> lines{1};
        auto [recorder, input] = make_recorder_ends("poller0", config, lines);
        input.lines = [lines] { return lines; };
        poller_ = std::move(recorder);
        std::vector<RecorderInput> inputs;
        inputs.push_back(std::move(input));
        Problems problems;
        recorder_ =
            RecorderTask::open({"test", config, feed::venue_services("opra").numbers_of,
                                [](RecorderNote, const std::string&) {}, std::move(written)},
                               std::move(inputs), problems);
        ASSERT_TRUE(problems.empty());
        make_segment();
    }

    /// A snapshot is kept only beside a segment.
    void make_segment() const {
        std::ofstream{feed::segment_path(folder_, "poller0", start_ns)} << "packets";
    }

    void TearDown() override { fs::remove_all(fs::path{folder_}.parent_path()); }

    /// Each book that was asked gives its records, as far as its ring has room.
    void step_books() {
        for (std::size_t core = 0; core < books_.size(); ++core) {
            const auto orders = books_[core].in.peek(16);
            for (const StateRecord& order : orders) {
                next_[core] = order.kind == Kind::give ? 0 : next_[core];
            }
            books_[core].in.release(orders.size());
            while (next_[core] < given_[core].size() &&
                   books_[core].out.try_push({&given_[core][next_[core]], 1})) {
                ++next_[core];
            }
        }
    }

    /// Lets time pass. A step takes 200 us, as the thread's nap does.
    void pass(std::int64_t ns, bool with_recorder = true) {
        for (const std::int64_t end_ns = now_ns_ + ns; now_ns_ < end_ns; now_ns_ += ms_ns / 5) {
            task_->step(now_ns_);
            step_books();
            if (with_recorder) {
                recorder_->step(now_ns_);
            }
        }
    }

    void pass_until_written(std::uint64_t snapshots) {
        for (int i = 0; i < 100'000 && count(RecorderCount::snapshots) < snapshots; ++i) {
            pass(ms_ns);
        }
        ASSERT_EQ(count(RecorderCount::snapshots), snapshots);
    }

    [[nodiscard]] std::uint64_t count(RecorderCount row) const {
        return recorder_->counters().read(row);
    }

    [[nodiscard]] std::vector<feed::FoundState> files() const {
        Problems problems;
        return feed::states_in(folder_, problems);
    }

    /// The frames of the newest file.
    [[nodiscard]] std::vector<Bytes> read() const {
        Problems problems;
        SnapshotReader reader{*feed::StateFile::open(files().back().path, problems)};
        std::vector<Bytes> frames;
        for (auto records = reader.next(); !records.empty(); records = reader.next()) {
            for (const StateRecord& record : records) {
                frames.push_back(frame_of(record));
            }
        }
        EXPECT_EQ(reader.damage(), "");
        return frames;
    }

    std::string folder_;
    std::vector<StateRings> books_;
    std::vector<std::optional<StateRings>> rings_;
    std::unique_ptr<peer::StateExchange> exchange_;
    std::unique_ptr<PacketRecorder> poller_;
    std::unique_ptr<RecorderTask> recorder_;
    std::unique_ptr<SnapshotTask> task_;
    /// What each book gives.
    std::vector<std::vector<StateRecord>> given_{{of_line(Kind::end, 0)}, {of_line(Kind::end, 0)}};
    std::vector<std::size_t> next_{SIZE_MAX, SIZE_MAX};  ///< what each book gives next
    std::uint64_t packets_ = 1;
    std::int64_t now_ns_ = start_ns;
};

TEST_F(Snapshots, have_what_the_books_gave) {
    given_[0] = {of_line(Kind::place, 1), state_of_series(), of_line(Kind::end, 0)};
    given_[1] = {quoted(), of_line(Kind::lost, 1), quoted(), of_line(Kind::end, 0)};
    pass_until_written(1);
    EXPECT_EQ(recorder_->counters().snapshot_series.read(), 3U);
    const auto begin_ns = static_cast<std::int64_t>(recorder_->counters().snapshot_ns.read());
    EXPECT_NEAR(static_cast<double>(begin_ns), static_cast<double>(start_ns + 5 * second_ns), 1e6);
    EXPECT_EQ(files().front().begin_ns, begin_ns);
    EXPECT_EQ(fs::status(files().front().path).permissions(), fs::perms{0640});
    StateRecord place = of_line(Kind::place, 1);
    place.books = 2;
    const std::vector<Bytes> frames = read();
    ASSERT_EQ(frames.size(), 5U);
    for (const StateRecord& record : {place, state_of_series(), quoted(), of_line(Kind::lost, 1)}) {
        EXPECT_EQ(std::count(frames.begin(), frames.end(), frame_of(record)),
                  record.kind == Kind::series && !record.has_trades ? 2 : 1);
    }
}

TEST_F(Snapshots, come_again_after_the_interval_if_there_were_packets) {
    pass_until_written(1);
    pass(61 * second_ns);
    EXPECT_EQ(count(RecorderCount::snapshots), 1U);
    packets_ = 2;
    pass_until_written(2);
}

TEST_F(Snapshots, of_many_series_take_their_time) {
    given_[0].assign(20'000, state_of_series());
    given_[0].push_back(of_line(Kind::end, 0));
    pass(5 * second_ns);
    pass(20 * ms_ns);
    EXPECT_EQ(count(RecorderCount::snapshots), 0U);
    EXPECT_FALSE(exchange_->begin() == std::nullopt) << "it is under way";
    pass_until_written(1);
    EXPECT_GE(now_ns_ - start_ns, 5 * second_ns + 40 * ms_ns);  // 500,000 records a second
    EXPECT_EQ(read().size(), 20'000U);
}

TEST_F(Snapshots, wait_while_a_peer_receives_state) {
    ASSERT_FALSE(exchange_->begin());
    pass(10 * second_ns);
    EXPECT_EQ(count(RecorderCount::snapshots), 0U);
    exchange_->leave();
    pass(ms_ns);  // the walk for the peer ends
    pass_until_written(1);
}

TEST_F(Snapshots, that_the_disk_refuses_are_counted_and_tried_again) {
    fs::remove_all(folder_);
    pass(6 * second_ns);
    EXPECT_EQ(count(RecorderCount::snapshots_failed), 1U);
    EXPECT_EQ(recorder_->counters().snapshot_error.read(), static_cast<std::uint64_t>(ENOENT));
    EXPECT_FALSE(exchange_->begin());
    exchange_->leave();
    pass(ms_ns);
    fs::create_directory(folder_);
    make_segment();
    packets_ = 2;
    pass_until_written(1);
    EXPECT_EQ(recorder_->counters().snapshot_error.read(), 0U);
}

TEST_F(Snapshots, do_not_keep_the_books_while_the_recorder_hangs) {
    given_[0].assign(20'000, state_of_series());
    given_[0].push_back(of_line(Kind::end, 0));
    pass(16 * second_ns, false);
    EXPECT_FALSE(exchange_->begin()) << "peers can get state";
    exchange_->leave();
    pass(second_ns);
    EXPECT_TRUE(files().empty());
    packets_ = 2;
    pass_until_written(1);
    EXPECT_GE(count(RecorderCount::snapshots_failed), 1U);
}

TEST_F(Snapshots, that_are_not_complete_at_the_end_leave_nothing) {
    given_[0].assign(1000, state_of_series());  // without an end
    pass(6 * second_ns);
    const auto files_count = [this] {
        return std::distance(fs::directory_iterator{folder_}, fs::directory_iterator{});
    };
    EXPECT_EQ(files_count(), 2);
    poller_->close();
    recorder_->finish(now_ns_);
    EXPECT_EQ(files_count(), 1);
}

TEST(StateFrames, of_a_chunk_are_all_or_none) {
    Bytes frames = frame_of(state_of_series());
    const Bytes second = frame_of(of_line(Kind::lost, 3));
    frames.insert(frames.end(), second.begin(), second.end());
    ASSERT_TRUE(read_state_frames(frames, 2));
    EXPECT_EQ(read_state_frames(frames, 2)->back().line, 3U);
    EXPECT_FALSE(read_state_frames(frames, 1));
    EXPECT_FALSE(read_state_frames(frames, 3));
    EXPECT_FALSE(read_state_frames(std::span{frames}.first(frames.size() - 1), 2));
    EXPECT_FALSE(read_state_frames(std::span{frames}.first(frames.size() - 1), 1));
    StateRecord wrong = state_of_series();
    wrong.bid.said = 0xFFFF'FFFF;
    EXPECT_FALSE(read_state_frames(frame_of(wrong), 1));
    peer::FrameWriter keep_alive;
    keep_alive.put_keep_alive();
    EXPECT_FALSE(read_state_frames(keep_alive.waiting(), 1));
}

}  // namespace
}  // namespace pinstrike::actors
