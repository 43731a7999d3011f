// path: cold
//
// Ranges of a recording of several segments.
#include "feed/recording/recorded_packets.h"

#include "tests/actors/recorder/recorder_fixture.h"

#include <fcntl.h>
#include <sys/file.h>

namespace pinstrike::actors {
namespace {

constexpr std::int64_t apart_ns = 60'000 * ms_ns;

class RecordedPackets : public recorder_fixture::Recorder {
  protected:
    /// Four segments, each of three frames and a minute behind the one before.
    void record_segments() {
        for (std::size_t segment = 0; segment < 4; ++segment) {
            now_ns_ =
                recorder_fixture::first_packet_ns + static_cast<std::int64_t>(segment) * apart_ns;
            sent_ = segment * static_cast<std::size_t>(apart_ns / ms_ns);
            open();
            for (int i = 0; i < 3; ++i) {
                record();
            }
            finish();
        }
        ASSERT_EQ(segments().size(), 4U);
    }

    /// The numbers of the frames of a range, by the segments' times.
    std::vector<std::size_t> frames(std::size_t from_segment, std::size_t to_segment) {
        Problems problems;
        auto packets = feed::RecordedPackets::open(folder_, problems);
        EXPECT_TRUE(packets && problems.empty());
        first_ns_ = packets->first_ns();
        last_ns_ = packets->last_ns();
        feed::PacketRange range;
        range.from_ns = time_of(from_segment);
        range.to_ns = time_of(to_segment);
        packets->select(range);
        std::vector<std::size_t> found;
        while (const auto packet = packets->next()) {
            found.push_back(static_cast<std::size_t>(
                (packet->ts_ns - recorder_fixture::first_packet_ns) / ms_ns));
        }
        damage_ = packets->damage();
        return found;
    }

    static std::int64_t time_of(std::size_t segment) {
        return recorder_fixture::first_packet_ns + static_cast<std::int64_t>(segment) * apart_ns;
    }

    /// Overwrites a part of the index of a segment, from `at` on.
    void damage_index(std::size_t segment, std::streamoff at) const {
        std::fstream file{feed::index_path(segments()[segment]),
                          std::ios::in | std::ios::out | std::ios::binary};
        file.seekp(at);
        file.write("????????", 8);
    }

    std::int64_t first_ns_ = 0;
    std::int64_t last_ns_ = 0;
    std::vector<std::string> damage_;
};

TEST_F(RecordedPackets, a_range_has_the_packets_of_its_segments) {
    record_segments();
    EXPECT_EQ(frames(1, 3),
              (std::vector<std::size_t>{60'000, 60'001, 60'002, 120'000, 120'001, 120'002}));
    EXPECT_EQ(first_ns_, recorder_fixture::first_packet_ns);
    EXPECT_EQ(last_ns_, time_of(3) + 2 * ms_ns);
    EXPECT_EQ(frames(3, 4), (std::vector<std::size_t>{180'000, 180'001, 180'002}));
    EXPECT_EQ(frames(0, 1), (std::vector<std::size_t>{0, 1, 2}));
}

/// A day has more indexes than can be read in the time of a seek.
TEST_F(RecordedPackets, segments_outside_the_range_are_not_read) {
    record_segments();
    std::filesystem::resize_file(segments()[0], 64 << 10);  // its head stays
    EXPECT_EQ(frames(2, 3), (std::vector<std::size_t>{120'000, 120'001, 120'002}));
    EXPECT_TRUE(damage_.empty());
}

TEST_F(RecordedPackets, a_wrong_index_is_made_again_from_the_segment) {
    record_segments();
    damage_index(2, 0);
    EXPECT_EQ(frames(1, 4), (std::vector<std::size_t>{60'000, 60'001, 60'002, 120'000, 120'001,
                                                      120'002, 180'000, 180'001, 180'002}));
    EXPECT_TRUE(damage_.empty());
}

TEST_F(RecordedPackets, a_segment_that_cannot_be_read_hides_no_other) {
    record_segments();
    std::filesystem::resize_file(segments()[1], 0);
    std::ofstream{folder_ + "/ticket.pcapng"} << "no segment";
    EXPECT_EQ(frames(0, 3), (std::vector<std::size_t>{0, 1, 2, 120'000, 120'001, 120'002}));
    ASSERT_EQ(damage_.size(), 1U);
    EXPECT_NE(damage_[0].find(segments()[1]), std::string::npos) << damage_[0];
    for (const std::string& path : segments()) {
        std::filesystem::resize_file(path, 0);
    }
    Problems problems;
    EXPECT_FALSE(feed::RecordedPackets::open(folder_, problems));
    EXPECT_EQ(problems.size(), 5U) << "each segment, and that there is no packet";
}

/// A recorder that has just begun a segment has written nothing to it yet.
TEST_F(RecordedPackets, a_segment_without_a_head_that_is_being_written_is_no_damage) {
    record_segments();
    const std::string begun = feed::segment_path(folder_, "poller0", time_of(5));
    const std::ofstream made{begun};
    const nic::FileDescriptor file{::open(begun.c_str(), O_RDONLY | O_CLOEXEC)};
    ASSERT_EQ(::flock(file.get(), LOCK_EX), 0);
    EXPECT_EQ(frames(0, 1), (std::vector<std::size_t>{0, 1, 2}));
    EXPECT_TRUE(damage_.empty());
}

TEST_F(RecordedPackets, segments_may_be_compressed_and_removed_while_a_range_is_read) {
    record_segments();
    const std::vector<std::string> paths = segments();
    Problems problems;
    auto packets = feed::RecordedPackets::open(folder_, problems);
    ASSERT_TRUE(packets);
    compress(paths[0]);
    compress(paths[2]);
    packets->select({});
    EXPECT_EQ(feed::segment_to_remove(folder_, {INT64_MAX, 0, 0}), "");
    compress(paths[1]);
    for (const std::string& path : segments()) {
        ASSERT_TRUE(feed::remove_segment(path));
    }
    std::size_t count = 0;
    while (packets->next()) {
        ++count;
    }
    EXPECT_EQ(count, 12U);
    EXPECT_TRUE(packets->damage().empty());
}

/// A clock that was set back: the next segment begins earlier, so times of segments say nothing.
TEST_F(RecordedPackets, no_segment_is_left_out_by_times_that_go_back) {
    record_segments();
    now_ns_ = time_of(4);
    sent_ = 30'000;
    open();
    record();
    finish();
    sent_ = 240'000;
    now_ns_ = time_of(5);
    open();
    record();
    finish();
    EXPECT_EQ(frames(3, 4), (std::vector<std::size_t>{180'000, 180'001, 180'002}));
    EXPECT_EQ(frames(0, 1), (std::vector<std::size_t>{0, 1, 2, 30'000}));
}

}  // namespace
}  // namespace pinstrike::actors
