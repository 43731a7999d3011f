// path: cold
//
// Each rule of the numbering (spec e), one row each.
#include "feed/arbiter.h"

#include "tests/feed/arbiter_script.h"

#include <gtest/gtest.h>

#include <ostream>
#include <string>

namespace pinstrike::feed::test {
namespace {

struct Row {
    const char* rule;
    const char* input;
    const char* output;
    const char* gaps = "";
    std::uint64_t highest = 0;
};

void PrintTo(const Row& row, std::ostream* out) {
    *out << row.rule;
}

class ArbiterRule : public testing::TestWithParam<Row> {};

TEST_P(ArbiterRule, Holds) {
    const Row& row = GetParam();
    SCOPED_TRACE(std::string(row.rule) + "\n  input: " + row.input);
    Script script;
    EXPECT_EQ(script.play(std::string(row.input) + " end"), row.output);
    EXPECT_EQ(script.sink.wrong, "");
    EXPECT_EQ(script.gaps(), row.gaps);
    EXPECT_EQ(imbalance(script.arbiter), "");
    EXPECT_EQ(script.arbiter.counters().read(LineCount::highest), row.highest);
}

INSTANTIATE_TEST_SUITE_P(
    Order, ArbiterRule,
    testing::Values(
        Row{"the first data block sets E", "A100+2 A102+1 B100+2", "100 101 102", "", 3},
        Row{"the expected block is delivered, its copy is a duplicate", "A1+3 B1+3 A4 B4",
            "1 2 3 4", "", 4},
        Row{"a hole is filled by the other stream", "A1+3 A7+2 B4+3 B7+2 A9", "1 2 3 4 5 6 7 8 9",
            "", 9},
        Row{"a hole is given up when the window has passed", "A1+3 A7+2 wait A9",
            "1 2 3 gap4-6 7 8 9", "4-6", 9},
        Row{"not before", "A1+3 A7+2 +999 B4+3 wait", "1 2 3 4 5 6 7 8", "", 8},
        Row{"two holes have windows of their own", "A1 A3 +500 A5 +500 B2 B4 wait",
            "1 gap2-2 3 2L found2-2 4 5", "", 5},
        Row{"a late copy shrinks the gap", "A1+3 A9 wait B6+1 B4+5",
            "1 2 3 gap4-8 9 6L found6-6 4L 5L found4-5 7L 8L found7-8", "", 9},
        Row{"the end of the input gives up what is open", "A1 A3", "1 gap2-2 3", "2-2", 3},
        Row{"line integrity finds a lost tail", "A1+3 AN5 wait", "1 2 3 gap4-5", "4-5", 5},
        Row{"line integrity consumes nothing", "A1+3 AN3 BN3 A4", "1 2 3 4", "", 4},
        Row{"line integrity of a stream that lags", "A1+3 AN3 A4+3 B1+3 BN3 B4+3", "1 2 3 4 5 6",
            "", 6},
        Row{"line integrity before any data sets E", "AN9 A10", "10", "", 1},
        Row{"line integrity before any data, then a hole", "AN9 A11 wait", "gap10-10 11", "10-10",
            2},
        Row{"what is before the first number is neither missing nor new", "A10 B8+2 B9+3", "10 11",
            "", 2},
        Row{"overlap: the unseen tail is delivered", "A1+3 A2+4", "1 2 3 4 5", "", 5},
        Row{"overlap: what waits is not taken twice", "A1 A5+2 B3+4 B2", "1 2 3 4 5 6", "", 6},
        Row{"number 0 is none", "A1 A0+2 A2", "1 2", "", 2}));

INSTANTIATE_TEST_SUITE_P(
    Wrap, ArbiterRule,
    testing::Values(Row{"after the last number comes 1", "A4294967294+2 A1",
                        "4294967294 4294967295 1", "", 3},
                    Row{"a block straddles the wrap", "A4294967295+3 B4294967295+3 A3",
                        "4294967295 1 2 3", "", 4},
                    Row{"a gap straddles the wrap", "A4294967294 A2 wait",
                        "4294967294 gap4294967295-1 2", "4294967295-4294967295 1-1", 4},
                    Row{"a hole across the wrap is filled", "A4294967294 A3 B4294967295+3",
                        "4294967294 4294967295 1 2 3", "", 5},
                    Row{"duplicates across the wrap", "A4294967294+2 A1+2 B4294967294+2 B1+2 B3",
                        "4294967294 4294967295 1 2 3", "", 5}));

}  // namespace
}  // namespace pinstrike::feed::test
