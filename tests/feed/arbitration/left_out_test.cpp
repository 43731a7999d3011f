// path: cold
//
// Numbers that a cut of a recording left out are neither delivered nor lost. Blocks are stamped as
// arbiter_script.h says: @20 is 20000 ns.
#include "tests/feed/arbitration/arbiter_script.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

namespace pinstrike::feed::test {
namespace {

struct Row {
    const char* rule;
    std::vector<LeftOutRange> left_out;
    const char* input;
    const char* output;
    const char* gaps;
    std::uint64_t count;
};

void PrintTo(const Row& row, std::ostream* out) {
    *out << row.rule;
}

class LeftOutRule : public testing::TestWithParam<Row> {};

TEST_P(LeftOutRule, Holds) {
    const Row& row = GetParam();
    SCOPED_TRACE(std::string(row.rule) + "\n  input: " + row.input);
    Script script;
    script.arbiter.set_left_out(row.left_out);
    EXPECT_EQ(script.play(std::string(row.input) + " end"), row.output);
    EXPECT_EQ(script.sink.wrong, "");
    EXPECT_EQ(script.gaps(), row.gaps);
    EXPECT_EQ(script.arbiter.left_out_count().read(), row.count);
    const auto line = [&](LineCount count) { return script.arbiter.counters().read(count); };
    EXPECT_EQ(line(LineCount::highest),
              line(LineCount::delivered) + line(LineCount::lost) + row.count);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, LeftOutRule,
    testing::Values(Row{"a hole that was left out is passed at once",
                        {{4, 6, 12'000, 15'000}},
                        "A1+3@10 A7+2@20 B7+2@20 A9@21",
                        "1 2 3 7 8 9",
                        "",
                        3},
                    Row{"in several ranges",
                        {{6, 6, 15'000, 15'000}, {4, 5, 12'000, 13'000}},
                        "A1+3@10 A7@20",
                        "1 2 3 7",
                        "",
                        3},
                    Row{"a range may be known for more numbers than are missing",
                        {{2, 9, 10'000, 20'000}},
                        "A1+3@10 A7@20",
                        "1 2 3 7",
                        "",
                        3},
                    Row{"what is missing behind it is lost",
                        {{4, 5, 12'000, 13'000}},
                        "A1+3@10 A7@20 wait",
                        "1 2 3 gap6-6 7",
                        "6-6",
                        2},
                    Row{"and before it",
                        {{5, 6, 12'000, 13'000}},
                        "A1+3@10 A7@20 wait",
                        "1 2 3 gap4-4 7",
                        "4-4",
                        2},
                    Row{"and on both sides",
                        {{5, 6, 12'000, 13'000}},
                        "A1+3@10 A8@20 wait",
                        "1 2 3 gap4-4 gap7-7 8",
                        "4-4 7-7",
                        2},
                    Row{"a missing number before it may still come",
                        {{5, 6, 12'000, 13'000}},
                        "A1+3@10 A7@20 A8@21 B4@11 A9@22",
                        "1 2 3 4 7 8 9",
                        "",
                        2},
                    Row{"several holes",
                        {{3, 3, 11'000, 11'000}, {5, 7, 21'000, 22'000}},
                        "A1@10 A4@20 A8@30 B2@10",
                        "1 2 4 8",
                        "",
                        4},
                    Row{"numbers of another time are lost",
                        {{4, 6, 30'000, 31'000}},
                        "A1+3@10 A7@20 wait A9@40",
                        "1 2 3 gap4-6 7 gap8-8 9",
                        "4-6 8-8",
                        0},
                    Row{"also if they come again after a reset",
                        {{4, 6, 12'000, 15'000}},
                        "A1+3@10 A7@20 AK0@30 A1@40 A7@50 wait",
                        "1 2 3 7 resetK0:quotes 1 gap2-6 7",
                        "2-6",
                        3},
                    Row{"line integrity shows no loss of them",
                        {{4, 6, 12'000, 15'000}},
                        "A1+3@10 AN6@20 wait A7@21",
                        "1 2 3 7",
                        "",
                        3},
                    Row{"across the wrap",
                        {{4'294'967'295, 4'294'967'295, 11'000, 11'000}, {1, 2, 12'000, 13'000}},
                        "A4294967294@10 A3@20",
                        "4294967294 3",
                        "",
                        3}));

}  // namespace
}  // namespace pinstrike::feed::test
