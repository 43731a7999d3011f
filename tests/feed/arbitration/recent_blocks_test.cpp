// path: cold
#include "tests/feed/arbitration/arbiter_script.h"

#include <gtest/gtest.h>

#include <string>

namespace pinstrike::feed::test {
namespace {

/// The events after a block, so many other blocks, and a copy of the first that is stamped later.
std::string play_late_copy(Script& script, int between) {
    script.play("A1~1@100");
    for (int number = 2; number < 2 + between; ++number) {
        const std::string id = std::to_string(number);
        script.play("A" + id + "~" + id + "@" + std::to_string(100 + number));
    }
    script.sink.words.clear();
    return script.play("B1~1@1000 wait");
}

TEST(RecentBlocks, a_restamped_copy_among_the_last_64_blocks_is_a_copy) {
    for (const int between : {0, 7, 8, 62, 63}) {
        Script script;
        EXPECT_EQ(play_late_copy(script, between), "") << between;
        EXPECT_EQ(script.arbiter.counters().read(LineCount::copies_restamped), 1U) << between;
    }
    for (const int between : {64, 65}) {
        Script script;
        EXPECT_EQ(play_late_copy(script, between), "inferredK0:quotes 1") << between;
        EXPECT_EQ(script.arbiter.counters().read(LineCount::copies_restamped), 0U) << between;
    }
}

}  // namespace
}  // namespace pinstrike::feed::test
