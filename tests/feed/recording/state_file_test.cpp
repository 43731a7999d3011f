// path: cold
//
// Files of snapshots: what is written is read again, damage is noticed, and unneeded ones go.
#include "feed/recording/state_file.h"

#include "config/time_units.h"
#include "feed/recording/moment.h"
#include "feed/recording/segment_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

namespace pinstrike::feed {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t begin_ns = 1'764'426'600 * second_ns + 123'456'789;

std::vector<std::byte> bytes_of(std::string_view text) {
    const auto bytes = std::as_bytes(std::span{text});
    return {bytes.begin(), bytes.end()};
}

/// A whole file of two chunks.
std::vector<std::byte> snapshot() {
    std::vector<std::byte> file = feed::bytes_of(StateHead{"opra", 20251129, begin_ns});
    std::uint64_t number = 0;
    for (const std::string_view frames : {"first frames", "second", ""}) {
        std::vector<std::byte> chunk(state_chunk_head_bytes);
        const auto bytes = bytes_of(frames);
        chunk.insert(chunk.end(), bytes.begin(), bytes.end());
        StateChunk head;
        head.end_ns = begin_ns + static_cast<std::int64_t>(number) * second_ns;
        head.number = number++;
        head.records = static_cast<std::uint32_t>(frames.size());
        seal_state_chunk(chunk, head);
        file.insert(file.end(), chunk.begin(), chunk.end());
    }
    return file;
}

class StateFiles : public testing::Test {
  protected:
    void SetUp() override {
        folder_ = testing::TempDir() + "states-XXXXXX";
        ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
    }

    void TearDown() override { fs::remove_all(folder_); }

    std::string write(std::int64_t at_ns, std::span<const std::byte> bytes) const {
        const std::string path = state_path(folder_, at_ns);
        std::ofstream file{path, std::ios::binary};
        for (const std::byte byte : bytes) {
            file.put(static_cast<char>(byte));
        }
        return path;
    }

    /// Frames of the chunks that are whole, and the damage.
    static std::pair<std::vector<std::string>, std::string> read(const std::string& path) {
        Problems problems;
        auto file = StateFile::open(path, problems);
        if (!file) {
            return {{}, problems.front().text};
        }
        std::vector<std::string> chunks;
        while (file->next()) {
            const auto frames = file->frames();
            if (!frames.empty()) {
                std::string text(frames.size(), ' ');
                std::transform(frames.begin(), frames.end(), text.begin(),
                               [](std::byte byte) { return static_cast<char>(byte); });
                chunks.push_back(text);
            }
        }
        return {chunks, file->damage()};
    }

    /// A segment that was written from `from_ns` to `to_ns`.
    void segment(std::int64_t from_ns, std::int64_t to_ns) const {
        const std::string path = segment_path(folder_, "poller0", from_ns);
        std::ofstream{path} << "packets";
        const timespec to{to_ns / second_ns, to_ns % second_ns};
        const timespec times[2] = {to, to};
        ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
    }

    void remove_unneeded() const {
        for (const std::string& path : unneeded_states(folder_)) {
            fs::remove(path);
        }
    }

    /// The times of the snapshots that are left, in seconds after the first moment.
    std::vector<std::int64_t> left() const {
        Problems problems;
        std::vector<std::int64_t> seconds;
        for (const FoundState& state : states_in(folder_, problems)) {
            seconds.push_back((state.begin_ns - begin_ns) / second_ns);
        }
        return seconds;
    }

    std::string folder_;
};

TEST_F(StateFiles, is_read_as_it_was_written) {
    const std::string path = write(begin_ns, snapshot());
    EXPECT_TRUE(path.ends_with("/STATE-20251129T143000.123456789Z.state")) << path;
    EXPECT_EQ(time_in_name(path), begin_ns);
    Problems problems;
    EXPECT_EQ(StateFile::open(path, problems)->head(), (StateHead{"opra", 20251129, begin_ns}));
    const auto [chunks, damage] = read(path);
    EXPECT_EQ(chunks, (std::vector<std::string>{"first frames", "second"}));
    EXPECT_EQ(damage, "");
}

TEST_F(StateFiles, every_changed_byte_is_noticed) {
    std::vector<std::byte> bytes = snapshot();
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] ^= std::byte{1};
        EXPECT_NE(read(write(begin_ns, bytes)).second, "") << i;
        bytes[i] ^= std::byte{1};
    }
}

TEST_F(StateFiles, every_missing_byte_is_noticed) {
    const std::vector<std::byte> bytes = snapshot();
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        EXPECT_NE(read(write(begin_ns, std::span{bytes}.first(size))).second, "") << size;
    }
    std::vector<std::byte> more = bytes;
    more.push_back({});
    EXPECT_NE(read(write(begin_ns, more)).second, "");
}

TEST_F(StateFiles, what_is_before_the_damage_is_read) {
    std::vector<std::byte> bytes = snapshot();
    bytes[bytes.size() - state_chunk_head_bytes - 1] ^= std::byte{1};  // the second chunk
    const auto [chunks, damage] = read(write(begin_ns, bytes));
    EXPECT_EQ(chunks, std::vector<std::string>{"first frames"});
    EXPECT_NE(damage.find("is damaged"), std::string::npos) << damage;
}

TEST_F(StateFiles, a_name_without_a_time_is_none) {
    for (const char* name : {"STATE-.state", "STATE-20251329T143000.123456789Z.state", "x.state",
                             "STATE-99991129T143000.123456789Z.state"}) {
        std::ofstream{folder_ + "/" + name} << "?";
    }
    EXPECT_TRUE(left().empty());
}

TEST_F(StateFiles, what_a_crash_left_is_removed) {
    const std::string path = write(begin_ns, snapshot());
    fs::copy_file(path, unfinished_state_path(path));
    remove_unfinished_states(folder_);
    EXPECT_TRUE(fs::exists(path));
    EXPECT_FALSE(fs::exists(unfinished_state_path(path)));
}

TEST_F(StateFiles, one_of_ten_minutes_is_kept_and_the_two_newest) {
    segment(begin_ns, begin_ns + 7200 * second_ns);
    for (std::int64_t at = 0; at < 1500; at += 60) {
        write(begin_ns + at * second_ns, snapshot());
    }
    remove_unneeded();
    // 14:30:00 begins ten minutes.
    EXPECT_EQ(left(), (std::vector<std::int64_t>{0, 600, 1200, 1380, 1440}));
    remove_unneeded();
    EXPECT_EQ(left().size(), 5U);
}

TEST_F(StateFiles, those_without_packets_are_removed) {
    segment(begin_ns, begin_ns + 60 * second_ns);
    segment(begin_ns + 7200 * second_ns, begin_ns + 9000 * second_ns);
    for (const std::int64_t at : {-3600, 30, 3600, 7300}) {
        write(begin_ns + at * second_ns, snapshot());
    }
    remove_unneeded();
    EXPECT_EQ(left(), (std::vector<std::int64_t>{30, 7300}));
}

TEST_F(StateFiles, count_among_the_bytes_that_are_kept) {
    segment(begin_ns, begin_ns + 60 * second_ns);
    write(begin_ns, snapshot());
    const std::uint64_t both = 7 + snapshot().size();
    EXPECT_EQ(segment_to_remove(folder_, {INT64_MIN, both, 0}), "");
    EXPECT_NE(segment_to_remove(folder_, {INT64_MIN, both - 1, 0}), "");
}

TEST(TradeDate, changes_when_the_regular_session_has_ended) {
    constexpr std::int64_t minute_ns = 60 * second_ns;
    constexpr std::int64_t day_ns = 24 * 60 * minute_ns;
    constexpr std::int64_t midnight_ns = 1'764'374'400 * second_ns;  // 2025-11-29 00:00 UTC
    constexpr std::int64_t change_ns = midnight_ns + day_ns - 40 * minute_ns;
    EXPECT_EQ(trade_date_of(change_ns - 1), 20251129U);
    EXPECT_EQ(trade_date_of(change_ns), 20251130U);
    EXPECT_EQ(trade_date_begin_ns(change_ns - 1), change_ns - day_ns);
    EXPECT_EQ(trade_date_begin_ns(change_ns), change_ns);
    EXPECT_EQ(trade_date_begin_ns(change_ns + day_ns - 1), change_ns);
}

}  // namespace
}  // namespace pinstrike::feed
