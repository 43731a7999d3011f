// path: cold
#include "feed/recording/left_out.h"

#include "nic/capture/capture_writer.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <array>
#include <filesystem>
#include <string>

namespace pinstrike::feed {
namespace {

BlockNumbers numbers(std::uint64_t first, std::uint64_t last, std::int64_t ts_ns) {
    return {first, last, 0, ts_ns, false};
}

TEST(LeftOut, StatesWhatWasLeftOutOnce) {
    LeftOut left_out;
    EXPECT_EQ(left_out.take_comment(3), "");
    left_out.add(3, numbers(10, 12, 1000));
    left_out.add(3, numbers(13, 13, 1010));
    left_out.add(3, numbers(10, 12, 1000));  // the other stream
    left_out.add(3, numbers(20, 20, 2000));
    left_out.add(3, numbers(14, 15, 1020));  // goes on with an earlier range
    left_out.add(3, {1, 0, 0, 3000, true});  // takes no numbers
    left_out.add(4, numbers(1, 1, 1));
    EXPECT_EQ(left_out.take_comment(3),
              "left out before this packet of line 3: messages 10-15 stamped 1000-1020, 20-20 "
              "stamped 2000-2000");
    EXPECT_EQ(left_out.take_comment(3), "");
    EXPECT_NE(left_out.take_comment(4), "");
}

TEST(LeftOut, IsReadFromItsComments) {
    LeftOut left_out;
    LeftOutByLine found;
    std::vector<LeftOutRange> ranges;
    for (std::uint64_t i = 1; i <= 1000; ++i) {  // more than a comment has
        ranges.push_back({i * 1'000'000'000, i * 1'000'000'000 + 1,
                          1'764'426'600'123'456'789 + static_cast<std::int64_t>(i),
                          1'764'426'600'123'456'789 + static_cast<std::int64_t>(i)});
        left_out.add(65535,
                     numbers(ranges.back().first, ranges.back().last, ranges.back().first_ts_ns));
    }
    std::size_t count = 0;
    for (std::string text = left_out.take_comment(65535); !text.empty();
         text = left_out.take_comment(65535)) {
        EXPECT_LE(text.size(), 65535U);
        count += read_comment(text, found);
    }
    EXPECT_EQ(count, 1000U);
    EXPECT_EQ(found, (LeftOutByLine{{65535, ranges}}));
}

TEST(LeftOut, TakesNoOtherTextForItsComments) {
    LeftOutByLine found;
    const std::string good = "left out before this packet of line 3: messages 10-15 stamped 1-2";
    for (const std::string& bad :
         {std::string{}, std::string{"hello"}, good.substr(0, good.size() - 1) + "x", good + ",",
          good + ", ", good + " ", std::string{"left out before this packet of line 3"},
          std::string{"left out before this packet of line 3: messages "},
          std::string{"left out before this packet of line 70000: messages 1-2 stamped 1-2"},
          std::string{"left out before this packet of line 3: messages 2-1 stamped 1-2"},
          std::string{"left out before this packet of line 3: messages "
                      "1-99999999999999999999 stamped 1-2"},
          std::string{"left out before this packet of line 3: messages -1-2 stamped 1-2"}}) {
        EXPECT_EQ(read_comment(bad, found), 0U) << bad;
    }
    EXPECT_TRUE(found.empty());
    EXPECT_EQ(read_comment(good, found), 1U);
    for (std::size_t size = 0; size + 1 < good.size(); ++size) {
        EXPECT_EQ(read_comment(good.substr(0, size), found), 0U) << size;
    }
}

TEST(LeftOut, IsFoundInCutsOnly) {
    std::string folder = testing::TempDir() + "left-out-XXXXXX";
    ASSERT_NE(::mkdtemp(folder.data()), nullptr);
    const auto write = [&](const std::string& name, std::string_view comment) {
        Problems problems;
        auto writer = nic::CaptureWriter::open(folder + "/" + name, problems, comment);
        ASSERT_TRUE(writer);
        const std::array<std::byte, 61> frame{};
        writer->write(frame, 1);
        writer->write(frame, 2,
                      "left out before this packet of line 3: messages 10-15 stamped 1-2");
        ASSERT_TRUE(writer->close(problems));
    };
    write("cut.pcapng", cut_comment);
    write("other.pcapng", "");
    const auto found = [&](const std::string& name) {
        Problems problems;
        const std::array<std::string, 1> files{folder + "/" + name};
        const LeftOutByLine by_line = left_out_of(files, problems);
        EXPECT_TRUE(problems.empty());
        return by_line;
    };
    EXPECT_EQ(found("cut.pcapng"), (LeftOutByLine{{3, {{10, 15, 1, 2}}}}));
    EXPECT_TRUE(found("other.pcapng").empty());
    EXPECT_TRUE(found("none.pcapng").empty());
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace pinstrike::feed
