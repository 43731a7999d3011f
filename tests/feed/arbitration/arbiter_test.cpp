// path: cold
//
// Tests the rules of the numbering (OPRA Block Sequence Number), one row per rule.
#include "feed/arbitration/arbiter.h"

#include "tests/feed/arbitration/arbiter_script.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <ostream>
#include <span>
#include <sstream>
#include <string>

namespace pinstrike::feed::test {
namespace {

struct ArbiterRow {
    const char* rule;
    const char* input;
    const char* output;
    const char* gaps = "";
    std::uint64_t highest = 0;
    std::uint64_t restamped = 0;  ///< copies that were compared, and have another time
};

void PrintTo(const ArbiterRow& row, std::ostream* out) {
    *out << row.rule;
}

/// The number of words of the text for which the predicate is true.
template <class Takes>
std::uint64_t count_words(const std::string& text, Takes&& takes) {
    std::istringstream words{text};
    return static_cast<std::uint64_t>(
        std::count_if(std::istream_iterator<std::string>{words}, {}, takes));
}

/// Compares each counter with the number of words that it counts, of the input or of the output.
void expect_counts(const std::string& input, const std::string& output,
                   const LineCounters& counts) {
    const auto begins = [](const char* with) {
        return [with](const std::string& word) { return word.starts_with(with); };
    };
    const auto control = [](char stream) {
        return [stream](const std::string& word) {
            return (stream == 'V') == (word[0] == 'V') && (word[1] == 'C' || word[1] == 'K');
        };
    };
    const auto zero = [](const std::string& word) {
        return word[0] != 'V' && (word.substr(1) == "0" || word.substr(1, 2) == "0+");
    };
    const auto late = [](const std::string& word) { return word.find('L') != std::string::npos; };
    EXPECT_EQ(counts.read(LineCount::late), count_words(output, late));
    EXPECT_EQ(counts.read(LineCount::gaps),
              count_words(output, begins("gap")) + count_words(output, begins("bad")));
    EXPECT_EQ(counts.read(LineCount::resets_inferred), count_words(output, begins("inferred")));
    EXPECT_EQ(counts.read(LineCount::resets) + counts.read(LineCount::resets_repeated) +
                  counts.read(LineCount::resets_stale),
              count_words(input, control('A')));
    EXPECT_EQ(counts.read(LineCount::retransmitted_controls), count_words(input, control('V')));
    EXPECT_EQ(counts.read(LineCount::invalid_sequence), count_words(input, zero));
}

/// Whether the current suite plays captures in a loop.
bool is_looped() {
    return std::string{testing::UnitTest::GetInstance()->current_test_suite()->name()}.starts_with(
        "Loops");
}

class ArbiterRule : public testing::TestWithParam<ArbiterRow> {};

TEST_P(ArbiterRule, Holds) {
    const ArbiterRow& row = GetParam();
    SCOPED_TRACE(std::string(row.rule) + "\n  input: " + row.input);
    Script script(
        {.window_ns = 1000, .hold_bytes = 65536, .gap_ranges = 64, .looped_captures = is_looped()});
    EXPECT_EQ(script.play(std::string(row.input) + " end"), row.output);
    EXPECT_EQ(script.sink.wrong, "");
    EXPECT_EQ(script.gaps(), row.gaps);
    EXPECT_EQ(imbalance(script.arbiter), "");
    EXPECT_EQ(script.arbiter.counters().read(LineCount::highest), row.highest);
    expect_counts(row.input, row.output, script.arbiter.counters());
    EXPECT_EQ(script.arbiter.counters().read(LineCount::copies_restamped), row.restamped);
}

INSTANTIATE_TEST_SUITE_P(
    Order, ArbiterRule,
    testing::Values(
        ArbiterRow{"the first data block sets E", "A100+2 A102+1 B100+2", "100 101 102", "", 3},
        ArbiterRow{"the expected block is delivered, its copy is a duplicate", "A1+3 B1+3 A4 B4",
                   "1 2 3 4", "", 4},
        ArbiterRow{"a hole is filled by the other stream", "A1+3 A7+2 B4+3 B7+2 A9",
                   "1 2 3 4 5 6 7 8 9", "", 9},
        ArbiterRow{"a hole is given up when the window has passed", "A1+3 A7+2 wait A9",
                   "1 2 3 gap4-6 7 8 9", "4-6", 9},
        ArbiterRow{"not before", "A1+3 A7+2 +999 B4+3 wait", "1 2 3 4 5 6 7 8", "", 8},
        ArbiterRow{"two holes have windows of their own", "A1 A3 +500 A5 +500 B2 B4 wait",
                   "1 gap2-2 3 2L found2-2 4 5", "", 5},
        ArbiterRow{"a late copy shrinks the gap", "A1+3 A9 wait B6+1 B4+5",
                   "1 2 3 gap4-8 9 6L found6-6 4L 5L found4-5 7L 8L found7-8", "", 9},
        ArbiterRow{"the end of the input gives up what is open", "A1 A3", "1 gap2-2 3", "2-2", 3},
        ArbiterRow{"line integrity finds a lost tail", "A1+3 AN5 wait", "1 2 3 gap4-5", "4-5", 5},
        ArbiterRow{"line integrity consumes nothing", "A1+3 AN3 BN3 A4", "1 2 3 4", "", 4},
        ArbiterRow{"line integrity of a stream that lags", "A1+3 AN3 A4+3 B1+3 BN3 B4+3",
                   "1 2 3 4 5 6", "", 6},
        ArbiterRow{"line integrity before any data sets E", "AN9 A10", "10", "", 1},
        ArbiterRow{"line integrity before any data, then a hole", "AN9 A11 wait", "gap10-10 11",
                   "10-10", 2},
        ArbiterRow{"what is before the first number is neither missing nor new",
                   "A10@5 B8+2@3 B9+3@5", "10 11", "", 2},
        ArbiterRow{"overlap: the unseen tail is delivered", "A1+3 A2+4", "1 2 3 4 5", "", 5},
        ArbiterRow{"overlap: what waits is not taken twice", "A1 A5+2 B3+4 B2", "1 2 3 4 5 6", "",
                   6},
        ArbiterRow{"number 0 is none", "A1 A0+2 A2", "1 2", "", 2}));

INSTANTIATE_TEST_SUITE_P(
    Wrap, ArbiterRule,
    testing::Values(ArbiterRow{"after the last number comes 1", "A4294967294+2 A1",
                               "4294967294 4294967295 1", "", 3},
                    ArbiterRow{"a block straddles the wrap", "A4294967295+3 B4294967295+3 A3",
                               "4294967295 1 2 3", "", 4},
                    ArbiterRow{"a gap straddles the wrap", "A4294967294 A2 wait",
                               "4294967294 gap4294967295-1 2", "4294967295-4294967295 1-1", 4},
                    ArbiterRow{"a hole across the wrap is filled", "A4294967294 A3 B4294967295+3",
                               "4294967294 4294967295 1 2 3", "", 5},
                    ArbiterRow{"duplicates across the wrap",
                               "A4294967294+2 A1+2 B4294967294+2 B1+2 B3",
                               "4294967294 4294967295 1 2 3", "", 5}));

INSTANTIATE_TEST_SUITE_P(
    Undecodable, ArbiterRule,
    testing::Values(
        ArbiterRow{"numbers that cannot be decoded are lost at once, E moves past",
                   "A1+3/2 A4 B1+3/2", "1 2 bad3-3 4", "3-3", 4},
        ArbiterRow{"another copy that can be decoded is late", "A1+3/2@5 B1+3@5 A4",
                   "1 2 bad3-3 3L found3-3 4", "", 4},
        ArbiterRow{"nothing of the first block can be decoded", "A1+3/0 A4", "bad1-3 4", "1-3", 4},
        ArbiterRow{"behind a hole, too", "A1 A4+3/1 B2+2 A7", "1 bad5-6 2 3 4 7", "5-6", 7},
        ArbiterRow{"behind a hole that is given up", "A1 A4+3/1 wait A7", "1 bad5-6 gap2-3 4 7",
                   "2-3 5-6", 7},
        ArbiterRow{"behind a hole, found before its turn", "A1@1 A4+3/1@5 B5@5 B2+2@4 A7@6",
                   "1 bad5-6 5L found5-5 2 3 4 7", "6-6", 7}));

INSTANTIATE_TEST_SUITE_P(
    Repair, ArbiterRule,
    testing::Values(
        ArbiterRow{"a retransmission fills the open hole", "A1 A5 V2+2 B4", "1 2R 3R 4 5", "", 5},
        ArbiterRow{"and waits its turn in it", "A1 A5 V3 B2 B4", "1 2 3R 4 5", "", 5},
        ArbiterRow{"what it fills is not taken again", "A1 A5 V3 V3 B2+3", "1 2 3R 4 5", "", 5},
        ArbiterRow{"it never moves E past what is known", "A1 V2+3 A2", "1 2", "", 2},
        ArbiterRow{"of a block that reaches beyond, the known part", "A1@1 AN3@5 V2+5@3 A4@6",
                   "1 2R 3R 4", "", 4},
        ArbiterRow{"stamped behind all that is known, it is of a numbering to come",
                   "A500@1 A505@3 V502@5 AK500@4 A501@5 A503@7 V502@6 wait",
                   "500 gap501-504 505 resetK500:quotes 501 502R 503", "501-504", 9},
        ArbiterRow{"it fills a declared gap, packed differently", "A1 A5+2 wait V1+6",
                   "1 gap2-4 5 6 2LR 3LR 4LR found2-4", "", 6},
        ArbiterRow{"of what waits, it alone can leave its place: it goes back there",
                   "A1@1 A4+3/0@5 B4@5 A9/0@7 B9@7 V8@6 B4+3@3 wait",
                   "1 bad4-6 4L found4-4 bad9-9 9L found9-9 5L 6L found5-6 gap2-3 gap7-7 8R",
                   "2-3 7-7", 9},
        ArbiterRow{"stamped otherwise, it makes nothing uncertain",
                   "A1@1 A4@9 V3@8 B3@3 B2@2 B5@10", "1 2 3R 4 5", "", 5},
        ArbiterRow{"it never opens a gap", "A1 V9 wait A2", "1 2", "", 2},
        ArbiterRow{"it never resets", "A500 VK0 VC0 A501 V1 A502", "500 501 502", "", 3},
        ArbiterRow{"it does not begin anything", "V5 A10 A11", "10 11", "", 2},
        ArbiterRow{"it fills a gap of the epoch before", "A500@1 A502@3 AK0@5 A1@6 V501@2",
                   "500 gap501-501 502 resetK0:quotes 1 501LFR found501-501F", "", 4},
        ArbiterRow{"with stamps alike, where something is missing",
                   "A500@5 A502@5 AK0@5 A1@5 V501@5",
                   "500 gap501-501 502 resetK0:quotes 1 501LFR found501-501F", "", 4},
        ArbiterRow{"what it cannot decode fills nothing", "A1 A4 V2+2/1 wait", "1 2R gap3-3 4",
                   "3-3", 4}));

INSTANTIATE_TEST_SUITE_P(
    Resets, ArbiterRule,
    testing::Values(
        ArbiterRow{"a start of day, then its second copy", "A500+2 AC0 A1+3 B500+2 BC0 B1+3 A4",
                   "500 501 resetC0:day 1 2 3 4", "", 6},
        ArbiterRow{"from before the first block heard, it wipes nothing",
                   "AK500@5 A501@6 BC0@1 BK500 A502@7", "resetK500:nothing 501 resetC0:nothing 502",
                   "", 2},
        ArbiterRow{
            "several from before the first block heard, and a copy behind all of them",
            "A50@20 A90@9 AK2@10 BC0@1 BK1@2 BK1@3 BK1@4 BK1@5 BK2 A51@21",
            "50 resetK2:nothing resetC0:nothing resetK1:nothing resetK1:nothing resetK1:nothing "
            "resetK1:nothing 51",
            "", 2},
        ArbiterRow{"late from before a cold restart that had nothing to lower",
                   "AC0@1 AK1@5 A2@6 B1+3@3 wait", "resetC0:day resetK1:nothing 2 1LF 2LF 3LF", "",
                   4},
        ArbiterRow{"the program starts with a start of day", "AC0 A1+2 BC0 B1+2 A3",
                   "resetC0:day 1 2 3", "", 3},
        ArbiterRow{"a hole of the old day is given up, and filled late",
                   "A500+2 A504 AC0 A1 B500+2 B502+2@102 B504 BC0 B1",
                   "500 501 gap502-503 504 resetC0:day 1 502LDF 503LDF found502-503DF", "", 6},
        ArbiterRow{"the old day went on", "A500@1 AC0@5 A1@6 B501+2@3 BC0 B1",
                   "500 resetC0:day 1 501LDF 502LDF", "", 4},
        ArbiterRow{"and had a hole", "A500@1 AC0@5 A1@6 B503@4 BC0 B1",
                   "500 resetC0:day 1 gap501-502 503LDF", "501-502", 5},
        ArbiterRow{"and its end is known from line integrity", "A500@1 AC0@5 A1@6 BN502@4 BC0",
                   "500 resetC0:day 1 gap501-502", "501-502", 4},
        ArbiterRow{"old data of the slower stream opens no hole in the new epoch",
                   "A500@1 AK0@5 A1@6 B500 B501/0@2 B502@3 BK0 B1 A2@7 B2",
                   "500 resetK0:quotes 1 bad501-501 502LF 2", "501-501", 5},
        ArbiterRow{"a stream that lost its copy goes on",
                   "A500@1 AC0@5 A1@6 B500 B1 A2@7 B2 B3@8 A3", "500 resetC0:day 1 2 3", "", 4},
        ArbiterRow{"a stream that lost its copy fills holes of the new epoch",
                   "A500@1 B500 AC0@5 A1@6 A3@8 B2@7", "500 resetC0:day 1 2 3", "", 4},
        ArbiterRow{"with stamps alike, numbers that go on are of the old epoch",
                   "A500@5 B500 AK0@5 A1@5 B501@5 BK0 B1", "500 resetK0:quotes 1 501LF", "", 3},
        ArbiterRow{"with stamps alike, numbers near the new E are of the new",
                   "A500@5 B500 AK0@5 A1@5 A3@5 B2@5 BK0", "500 resetK0:quotes 1 2 3", "", 4},
        ArbiterRow{"K that raises: what it skips is neither missing nor known",
                   "A10+2 AK19 A20 BK19 B20 AN20", "10 11 resetK19:nothing 20", "", 3},
        ArbiterRow{"K that raises keeps the gaps before it", "A10@1 A12@3 AK19@4 A20@5 B11@2 BK19",
                   "10 gap11-11 12 resetK19:nothing 20 11L found11-11", "", 4},
        ArbiterRow{"K with the last number changes nothing", "A10 AK10 A11 BK10 B11",
                   "10 resetK10:nothing 11", "", 2},
        ArbiterRow{"K that lowers", "A500 AK0 A1 BK0", "500 resetK0:quotes 1", "", 2},
        ArbiterRow{"several K follow one another", "AK0 AK1 AK2 A3 BK0 BK1 BK2 B3 A4",
                   "resetK0:nothing resetK1:nothing resetK2:nothing 3 4", "", 2},
        ArbiterRow{"the rollover forgets nothing and keeps gaps",
                   "A4294967290@1 A4294967293@3 AK1@5 A2@6 B4294967291+2@2",
                   "4294967290 gap4294967291-4294967292 4294967293 resetK1:nothing 2 4294967291L "
                   "4294967292L found4294967291-4294967292",
                   "", 5},
        ArbiterRow{"K with 1 far from the wrap is a cold restart", "A500 AK1 A2",
                   "500 resetK1:quotes 2", "", 2},
        ArbiterRow{"a cold restart near the wrap says 0", "A4294967290 AK0 A1",
                   "4294967290 resetK0:quotes 1", "", 2},
        ArbiterRow{"K with 1 behind a bare wrap is no rollover", "A4294967295+3 AK1 A2",
                   "4294967295 1 2 resetK1:quotes 2", "", 4},
        ArbiterRow{"K with 1 where the numbers ended at the wrap is one", "A4294967295 AK1 A2",
                   "4294967295 resetK1:nothing 2", "", 2},
        ArbiterRow{"a reset that came twice on its stream", "AC0 A1 AC0 A2 AC0", "resetC0:day 1 2",
                   "", 2},
        ArbiterRow{"a stream's first copy, late, with what followed it, is no loop",
                   "A500@1 B500 AK0@5 A1@6 A2@7 A3@8 B3 BK0 BK0 B1 B2 B3 A4@9",
                   "500 resetK0:quotes 1 2 3 4", "", 5},
        ArbiterRow{
            "a stream's first copy, behind what followed the next reset, is none either",
            "A500@1 B500 AK1@5 A2@6 A3@7 AK0@15 A1+2@16 A3+2@18 B3+2 BK1 B2@6 B3@7 BK0@15 A5@21",
            "500 resetK1:quotes 2 3 resetK0:quotes 1 2 3 4 5", "", 8},
        ArbiterRow{
            "nor of one that had been inferred",
            "A500@1 B500 A2@6 A3@7 wait AK0@15 A1+2@16 A3+2@18 B3+2 BK1@5 B2 B3 BK0@15 A5@21",
            "500 inferredK1:quotes 2 3 resetK0:quotes 1 2 3 4 5", "", 8},
        ArbiterRow{
            "a copy that came twice, behind what followed it and had been deferred, is no loop",
            "A500@1 A5@8 A6@9 AK0@3 AK0 A1@4 A2@5 A3@6 A4@7", "500 resetK0:quotes 1 2 3 4 5 6", "",
            7},
        ArbiterRow{"the slower stream's copy, long after the next reset",
                   "AK0 A1 AK5 A6 BK0 B1 BK5 B6", "resetK0:nothing 1 resetK5:nothing 6", "", 2},
        ArbiterRow{"old data out of order behind the reset: missing, so late",
                   "A500@1 A502@3 AK0@5 A501@2 A1@6",
                   "500 gap501-501 502 resetK0:quotes 501LF found501-501F 1", "", 4},
        ArbiterRow{"old data out of order behind the reset: a duplicate",
                   "A500@1 A501@2 AK9@5 A500 A10@6", "500 501 resetK9:quotes 10", "", 3},
        ArbiterRow{"a slower stream brings the reset from before the start",
                   "A5@10 BC0@1 B1@2 B5 A6@11", "5 resetC0:nothing 6", "", 2},
        ArbiterRow{"or several", "A8@50 BK1@20 B2@21 BK1@30 B2@31 BK5@40 BK5@40 B6@41 B8@50 A9@51",
                   "8 resetK1:nothing resetK1:nothing resetK5:nothing 9", "", 2},
        ArbiterRow{"or long after the next reset",
                   "A5@10 AK9@20 A10@21 BC0@1 BC0@1 B1@2 B5 BK9 B10 A11@22",
                   "5 resetK9:nothing 10 resetC0:nothing 11", "", 3},
        ArbiterRow{"what that stream goes on with is from before the start, no loop",
                   "A8@50 BK1@20 B9@21 B10@22 B11@23 B12@24 A9@51", "8 resetK1:nothing 9", "", 2},
        ArbiterRow{"nor is it one where the stream brings the reset out of order",
                   "A31@50 B60@20 BK1@10 B2@12 B3@13 B4@14 A32@51", "31 resetK1:nothing 32", "", 2},
        ArbiterRow{"a stream still before a reset before the start brings nothing",
                   "A5@10 B900@1 B901@2 BN902@3 BK0@4 B1@5 B5 A6@11", "5 resetK0:nothing 6", "", 2},
        ArbiterRow{"a stream still before the start brings nothing",
                   "AC0@5 A1@6 B900@1 BC0 B1 A2@7", "resetC0:day 1 2", "", 2}));

INSTANTIATE_TEST_SUITE_P(
    Restamped, ArbiterRule,
    testing::Values(
        ArbiterRow{"a second copy that is stamped later is a copy",
                   "A1~1@100 B1~1@101 A2~2@200 B2~2@201 A3~3@300 B3~3@301 wait", "1 2 3", "", 3, 3},
        ArbiterRow{"or stamped a day later", "A1~1@100 B1~1@900000 A2~2@200 B2~2@900001 wait A3",
                   "1 2 3", "", 3, 2},
        ArbiterRow{"also on the stream that brought the first", "A1~1@100 A1~1@101 A2~2@200", "1 2",
                   "", 2, 1},
        ArbiterRow{"what waits is known by its copy too",
                   "A1~1@100 B1~1@101 B3~3@301 A3~3@300 B2~2@201 A2~2@200 wait", "1 2 3", "", 3, 2},
        ArbiterRow{"a copy stamped no later than what was delivered is not compared",
                   "A1~1@100 B1~1@100 A2~2@200 A3~3@300 B2~2@201 B3~3@301 wait", "1 2 3", "", 3, 1},
        ArbiterRow{"other messages under the same numbers are behind a reset that was missed",
                   "A500~1@100 B500~1@100 A1~2@500 B1~2@500 A2~3@600 B2~3@600 wait",
                   "500 inferredK0:quotes 1 2", "", 3},
        ArbiterRow{"behind a reset the same messages may come again",
                   "A1~1@100 B1~1@100 AK0~9@200 BK0~9@200 A1~1@300 B1~1@300 A2~2@301 B2~2@301",
                   "1 resetK0:quotes 1 2", "", 3},
        ArbiterRow{"also at once, while the other stream has yet to bring the reset",
                   "A1~1@100 AK0~9@101 A1~1@102 B1~1@100 BK0~9@101 B1~1@102", "1 resetK0:quotes 1",
                   "", 2},
        ArbiterRow{"two resets that are alike are two",
                   "A9@100 B9@100 AK4~9@200 BK4~9@200 AK4~9@201 BK4~9@201 A5@500 B5",
                   "9 resetK4:quotes resetK4:nothing 5", "", 2},
        ArbiterRow{
            "a slower stream's blocks of before the reset have no copies behind the next",
            "B4~1@100 BK0~9@120 A4~1@100 B1+8@130 B1~3@500 B2~4@510 B3~5@520 B4~1@530 AK0~9@490 "
            "wait B5",
            "4 resetK0:quotes 1 2 3 4 5 6 7 8 resetK0:quotes 1 2 3 4 5", "", 14}));

INSTANTIATE_TEST_SUITE_P(
    MissedResets, ArbiterRule,
    testing::Values(
        ArbiterRow{"K that raises, lost on the faster stream", "A10@1 A20@5 B10 BK19@3 B20 A21@6",
                   "10 resetK19:nothing 20 21", "", 3},
        ArbiterRow{"what cannot be decoded is reported once, in the epoch it is of",
                   "A10@1 A20+2/1@5 B10 BK19@3 B20+2/1 A22@6",
                   "10 bad21-21 found21-21 resetK19:nothing 20 bad21-21 22", "21-21", 4},
        ArbiterRow{"noticed too late: what K skipped counts as lost",
                   "A10@1 A20@5 wait B10 BK19@3 B20 A21@6", "10 gap11-19 20 resetK19:nothing 21",
                   "11-19", 12},
        ArbiterRow{"K that lowers, lost on the faster stream", "A500@1 A1@5 A2@6 BK0@3 B1 B2 A3@7",
                   "500 resetK0:quotes 1 2 3", "", 4},
        ArbiterRow{"noticed too late: it is inferred, then known",
                   "A500@1 A1@5 A2@6 wait A3@7 B500 BK0@3 B1 B2 B3 A4@8",
                   "500 inferredK0:quotes 1 2 3 resetK0:nothing 4", "", 5},
        ArbiterRow{"the slower stream fills what came before the inferred beginning",
                   "A500@1 A2@6 A3@7 wait BK0@3 B1@5 B2 B3",
                   "500 inferredK1:quotes 2 3 gap1-1 resetK0:nothing 1L found1-1", "", 4},
        ArbiterRow{"a start of day inferred, then known", "A500@1 A1@5 A2@6 wait BC0@3 B1",
                   "500 inferredK0:quotes 1 2 resetC0:day", "", 3},
        ArbiterRow{"a start of day that was due, lost on both streams",
                   "A500@1 A502@3 wait B500 due A1@5 A2@6 wait A3@7 B501@2",
                   "500 gap501-501 502 inferredK0:day 1 2 3 501LDF found501-501DF", "", 6},
        ArbiterRow{"a start of day that was due, inferred, then known",
                   "A500@1 due A1@5 A2@6 wait BC0@3 B1", "500 inferredK0:day 1 2 resetC0:nothing",
                   "", 3},
        ArbiterRow{"lost on both streams", "A500@1 B500 A1@5 B1 A2@6 B2 wait A3@7 B3",
                   "500 inferredK0:quotes 1 2 3", "", 4},
        ArbiterRow{"lost on both, with a hole behind it", "A500@1 B500 A1@5 A2@6 A4@8 wait B3@7",
                   "500 inferredK0:quotes 1 2 3 4", "", 5},
        ArbiterRow{"lost on both, the slower stream has the first block",
                   "A500@1 B500 A2@6 B1@5 A3@7 wait", "500 inferredK0:quotes 1 2 3", "", 4},
        ArbiterRow{"lost on both, and what follows fits into a hole",
                   "A1@1 A3@3 A4@4 A2@5 A3@6 wait", "1 gap2-2 3 4 inferredK1:quotes 2 3", "2-2", 6},
        ArbiterRow{"lost on both, and what follows fits into a gap",
                   "A1@1 A3@3 wait A4@4 A2@5 A3@6 wait", "1 gap2-2 3 4 inferredK1:quotes 2 3",
                   "2-2", 6},
        ArbiterRow{"a start of day that the faster stream lost, and the reset behind it",
                   "A500@1 B500 AK600@5 A601@6 BC0@4 BC0 BK600 B601 A602@7 B602",
                   "500 resetK600:nothing 601 resetC0:day 602", "", 3},
        ArbiterRow{"and where one stream brings the two out of order",
                   "A500@1 AK600@5 AC0@4 A601@6 A602@7",
                   "500 resetK600:nothing resetC0:day 601 602", "", 3},
        ArbiterRow{"one that only the slower stream shows to lower the numbers is reported again",
                   "A500@1 B500 AK600@5 AK600@9 A601@10 BK600@5 B601+2@6 BK600@9",
                   "500 resetK600:nothing resetK600:nothing 601 resetK600:quotes 601LF 602LF", "",
                   4},
        ArbiterRow{"and where it still comes, in disorder: what waits for numbers that others have",
                   "A1@1 A4@20 A5@21 A3@3 A4@4 A2@2 AK0@10 A1@17 A2@18 A3@19",
                   "1 2 3 4 resetK0:quotes 1 2 3 4 5", "", 9},
        ArbiterRow{"the first of two cold restarts that the faster stream lost",
                   "A500@1 B500 AK1@5 A2@6 BK0@4 BK1 B2", "500 resetK1:quotes 2 resetK0:nothing",
                   "", 2},
        ArbiterRow{
            "one that raises, between two that the faster stream brought: what it skips is not "
            "missing",
            "A500@1 B500 AK1@2 AK1@9 BK1@2 BK2@3 B3@4 BK1@9 A2@10",
            "500 resetK1:quotes resetK1:nothing resetK2:nothing 3LF 2", "", 3},
        ArbiterRow{
            "what is behind one that the next overtook comes late, and so does what it lacks",
            "A500@10 B500 AK1@50 A2@53 BK1@30 B2@40 B4@42 BK1@50 B2@53 A3@60",
            "500 resetK1:quotes 2 resetK1:nothing 2LF gap3-3 4LF 3", "3-3", 6},
        ArbiterRow{"behind two of them, too",
                   "A500@10 B500 AK1@50 A2@53 BK1@30 B2@40 BK1@45 B2@46 BK1@50 B2@53 A3@60",
                   "500 resetK1:quotes 2 resetK1:nothing 2LF resetK1:nothing 2LF 3", "", 5},
        ArbiterRow{"but once, where it was taken for what went on from before",
                   "A10@1 B10 AK5@50 A6@51 B21@40 BK20@30 B21@40 BK5 B6@51 A7@60",
                   "10 resetK5:quotes 6 gap11-20 21LF resetK20:nothing 7", "11-20", 14},
        ArbiterRow{"what is behind the third of three comes first",
                   "A500@1 B500 A2@22 A3@23 BK1@10 BK2@11 BK1@20 BK2@11 A4@24",
                   "500 resetK1:quotes 2 3 resetK2:nothing resetK1:nothing 4", "", 4},
        ArbiterRow{"a reset from two numberings back, on a slow stream, is not the inferred one",
                   "A10@10 AK0@20 A1@21 A2@22 A2@30 A3@31 wait BC0@1 BK0@20 BK0 B1@21",
                   "10 resetK0:quotes 1 2 inferredK1:quotes 2 3 resetC0:nothing", "", 5},
        ArbiterRow{"nor where its number is the same",
                   "A500@1 B500 AK5@10 A6@11 A1@14 A2+7@15 wait BK0@9 BK5 B6@11 BK0@13 B1@14",
                   "500 resetK5:quotes 6 inferredK0:quotes 1 2 3 4 5 6 7 8 resetK0:nothing", "",
                   10},
        ArbiterRow{"nor where it was reported in the numbering before",
                   "A10@1 A20+5@5 wait B10 BK19@3 A21@10 A22@11 wait BK19",
                   "10 gap11-19 20 21 22 23 24 resetK19:nothing inferredK20:quotes 21 22", "11-19",
                   17},
        ArbiterRow{"a stream that lost two resets shows the second, and fills no gap",
                   "A500@1 B500 AK0@5 A2@7 wait B1@20 B2@21 AK0@15 A3@22",
                   "500 resetK0:quotes gap1-1 2 resetK0:quotes 1 2 3", "1-1", 6},
        ArbiterRow{"and brings what the one that noticed it lost",
                   "A500@1 B500 AK0@5 A1@6 A2@7 A3@8 A1@20 A2@21 B3@22 A4@23 wait",
                   "500 resetK0:quotes 1 2 3 inferredK0:quotes 1 2 3 4", "", 8},
        ArbiterRow{"two lost on both streams, one after the other",
                   "A500@1 B500 A3@13 A4@14 A1@22 A2@23 wait",
                   "500 inferredK2:quotes 3 4 inferredK0:quotes 1 2", "", 5},
        ArbiterRow{"and then a third comes", "A500@1 B500 A3@13 A4@14 A1@22 A2@23 AK0@30 A1@31",
                   "500 inferredK2:quotes 3 4 inferredK0:quotes 1 2 resetK0:quotes 1", "", 6},
        ArbiterRow{
            "two that the faster stream lost, and brings in disorder what is behind them",
            "A500@1 B500 A3@13 A1@22 A4@14 A2@23 BK0@10 B1@11 B2@12 B3@13 B4@14 BK0@20 B1@22 A3@24",
            "500 resetK0:quotes 1 2 3 4 resetK0:quotes 1 2 3", "", 8},
        ArbiterRow{
            "out of order from before the reset candidate, though it ends with the same number",
            "A1@1 B1 A2@2 A3@3 A6@6 A2+4@40 A4+2@5 A6@41 BK1@30 A7@42 wait",
            "1 2 3 4 5 6 resetK1:quotes 2 3 4 5 6 7", "", 12},
        ArbiterRow{"what is behind the first may not bear out the second",
                   "A500@1 B500 A3@13 A4@14 A2@22 BK0@10 B1@11 A5@15 B2@12 A6@23",
                   "500 resetK0:quotes 1 2 3 4 5 6", "", 7},
        ArbiterRow{"an old block by itself means nothing", "A500+2@1 A1@5 A502@6", "500 501 502",
                   "", 3},
        ArbiterRow{"nor at the end", "A500@1 A1@5", "500", "", 1},
        ArbiterRow{"but when nothing more comes a reset is inferred", "A500@1 B500 A1@5 wait",
                   "500 inferredK0:quotes 1", "", 2},
        ArbiterRow{"also where the stream goes on with what is older: that is late then",
                   "A500@1 A1@9 +600 A501@2 +600 A502@3 wait", "500 501 inferredK0:quotes 1 502LF",
                   "", 4},
        ArbiterRow{
            "what lies astride the first number is behind it",
            "A10@1 B10 AK1@3 AK2@4 A2+9@20 AK1@15 A11@22 BK1@3 BK2@4 B3+2@6 BK1@15 B2+9@20 B11",
            "10 resetK1:quotes resetK2:nothing resetK1:quotes 2 3 4 5 6 7 8 9 10 11 3LF 4LF", "",
            13},
        ArbiterRow{
            "an old start of day in disorder says nothing of it",
            "B3@3 B4@4 AC0@1 A1@2 A3 A4 A5@5 B5 B6@6 B2+2@20 BC0@1 B4+2@22 A6 AK1@10 A6@30 wait",
            "3 4 resetC0:nothing 5 6 resetK1:quotes 2 3 4 5 6", "", 9},
        ArbiterRow{"with losses between, and ahead of the numbers before",
                   "A110@1 B110 A3@12 A60@14 A130@16 BK1@6 BK2@8 B3@12 B4@13 B60@14 wait",
                   "110 resetK1:quotes resetK2:nothing 3 4 gap5-59 60 gap61-129 130", "5-59 61-129",
                   129},
        ArbiterRow{"or the reset lost on both", "A110@1 B110 A3@12 A60@14 A130@16 wait B4@13",
                   "110 inferredK2:quotes 3 4 gap5-59 60 gap61-129 130", "5-59 61-129", 129},
        ArbiterRow{"but on both streams it does", "A500@1 B500 A1@5 B1", "500 inferredK0:quotes 1",
                   "", 2},
        ArbiterRow{"and with its neighbour", "A500@1 B500 A2@6 B1@5 wait",
                   "500 inferredK0:quotes 1 2", "", 3},
        ArbiterRow{"the reset may still come", "A500@1 B500 A1@5 B1 BK0@3 A2@6",
                   "500 resetK0:quotes 1 2", "", 3},
        ArbiterRow{"line integrity shows it, too", "A500@1 AN0@5 AN0@6 wait A2@7",
                   "500 inferredK0:quotes gap1-1 2", "1-1", 3},
        ArbiterRow{"line integrity, then data", "A500@1 AN7@5 A8@6 wait", "500 inferredK7:quotes 8",
                   "", 2},
        ArbiterRow{"a jump from the upper half to the start is no wrap",
                   "A3000000000@1 A1@5 A2@6 wait", "3000000000 inferredK0:quotes 1 2", "", 3}));

INSTANTIATE_TEST_SUITE_P(
    Loops, ArbiterRule,
    testing::Values(
        ArbiterRow{"a capture that ends with K, on one stream", "A1@1 A2@2 AK0@9 A1 A2 AK0 A1 A2",
                   "1 2 resetK0:quotes 1 2 resetK0:quotes 1 2", "", 6},
        ArbiterRow{"on both", "A1@1 B1 A2@2 B2 AK0@9 BK0 A1 B1 A2 B2 AK0 BK0 A1 B1",
                   "1 2 resetK0:quotes 1 2 resetK0:quotes 1", "", 5},
        ArbiterRow{"the second stream late by most of a turn",
                   "A1@1 A2@2 AK0@9 A1 B1 A2 B2 BK0 B1 B2 AK0 A1 BK0 B1",
                   "1 2 resetK0:quotes 1 2 resetK0:quotes 1", "", 5},
        ArbiterRow{"a capture that begins with a start of day", "AC0@1 A1@2 A2@3 AC0 A1 A2 A3@4",
                   "resetC0:day 1 2 resetC0:day 1 2 3", "", 5},
        ArbiterRow{"that one stream lost in the first turn",
                   "A1@2 A2@3 BC0@1 B1 B2 AC0 A1 A2 BC0 B1 B2 A3@4",
                   "1 2 resetC0:nothing resetC0:day 1 2 3", "", 5},
        ArbiterRow{"a hole in the second turn is filled by the other stream",
                   "A1@1 A2@2 A3@3 AK0@9 B1 B2 B3 BK0 A1 A3 B1 B2 B3", "1 2 3 resetK0:quotes 1 2 3",
                   "", 6},
        ArbiterRow{"with a reset in its middle",
                   "A1@1 A2@2 A3@3 AK9@4 A10@5 AK0@9 A1 A2 A3 AK9 A10 AK0 A1",
                   "1 2 3 resetK9:nothing 10 resetK0:quotes 1 2 3 resetK9:nothing 10 "
                   "resetK0:quotes 1",
                   "", 9},
        ArbiterRow{"which is one when it comes again",
                   "A3@4 A4@5 AC0@1 A1@2 A2@3 A3@4 A4@5 AC0 A1 A2 A3", "3 4 resetC0:day 1 2 3", "",
                   5},
        ArbiterRow{"joined in mid-turn: what comes of before that counts when it comes again",
                   "A5001@5 A5002@6 AK0@9 A1@1 A2@2 A3@3 AK5000@4 A5001 A5002 AK0 A1 A2 A3 "
                   "AK5000 A5001 A5002 AK0 A1",
                   "5001 5002 resetK0:quotes 1 2 3 resetK5000:nothing 5001 5002 "
                   "resetK0:quotes 1",
                   "", 8}));

/// Inputs that differ from a loop only in their times.
INSTANTIATE_TEST_SUITE_P(
    OldCopies, ArbiterRule,
    testing::Values(
        ArbiterRow{"what a stream had not brought before, behind its reset",
                   "A1@1 B1 A2@2 A3@3 A4@4 A5@5 B5 AK0@9 BK0 B2 B3 B4 A1@11 B1 A2@12",
                   "1 2 3 4 5 resetK0:quotes 1 2", "", 7},
        ArbiterRow{"or where it had been missing",
                   "A1@1 B1 A5@5 B5 wait AK0@9 BK0 B2@2 B3@3 B4@4 A1@11 B1 A2@12",
                   "1 gap2-4 5 resetK0:quotes 2LF found2-2F 3LF found3-3F 4LF found4-4F 1 2", "",
                   7},
        ArbiterRow{"a start of day that came twice is not the reset that the other one brings",
                   "AC0@1 BC0 A1@2 B1 BC0 AK0@5 A1@6 A2@7 A3@8 B3 BK0 B1 B2 A4@9",
                   "resetC0:day 1 resetK0:quotes 1 2 3 4", "", 5},
        ArbiterRow{
            "not a reset of an earlier numbering that a stream brings late, for the first time",
            "A500@1 B500 AK1@5 A2@6 A3@7 AK1@10 A2@11 B3@12 BK1@5 BK1 B2@6 B3@7 BK1@10 B2@11 A4@13",
            "500 resetK1:quotes 2 3 resetK1:quotes 2 3 4", "", 6},
        ArbiterRow{
            "nor where that numbering had been inferred",
            "A500@1 B500 A2@7 A3@8 wait AK1@10 A2@11 B3@12 BK1@5 B2@7 B3@8 BK1@10 B2@11 A4@13",
            "500 inferredK1:quotes 2 3 resetK1:quotes 2 3 4", "", 6},
        ArbiterRow{"nor one from before the program's start, behind what came after it",
                   "B96@9 B97@10 BC0@1 B1@2 B2@3 B98@11 AC0@1 A1@2 A2@3 A99@12",
                   "96 97 98 resetC0:nothing 99", "", 4}));

INSTANTIATE_TEST_SUITE_P(Flush, ArbiterRule,
                         testing::Values(ArbiterRow{"late from before a flush that was decoded",
                                                    "A1 A3 wait A4 flush4 B2",
                                                    "1 gap2-2 3 4 2LF found2-2F", "", 4},
                                         ArbiterRow{"late from behind it", "A1 flush1 A3 wait B2",
                                                    "1 gap2-2 3 2L found2-2", "", 3}));

TEST(ArbiterCounts, blocks_that_waited_each_once) {
    Script script;
    EXPECT_EQ(script.play("A1 A3 A5+2 B3 B2 A8 wait end"), "1 2 3 gap4-4 5 6 gap7-7 8");
    EXPECT_EQ(script.arbiter.counters().read(LineCount::holds), 3U);
    EXPECT_EQ(script.arbiter.counters().read(LineCount::holds_cut_short), 0U);
}

TEST(Arbiter, WhatIsInOrderIsDecidedAtOnce) {
    Arbiter arbiter({.window_ns = 1000, .hold_bytes = 65536, .gap_ranges = 64}, {});
    WordSink sink;
    unsigned slow = 0;
    for (std::uint32_t number = 1; number <= 100; ++number) {
        Block block;
        block.sequence = number;
        block.ts_exchange_ns = number;
        block.messages = block.decodable = 1;
        block.bytes = std::as_bytes(std::span(&number, 1));
        for (const Stream stream : {Stream::a, Stream::b}) {
            if (arbiter.commit(block, stream) == Verdict::slow) {
                ++slow;
                arbiter.commit_slow(block, stream, 0, sink);
            }
        }
    }
    EXPECT_EQ(slow, 1);  // the first block of all, which sets where the numbers begin
    EXPECT_EQ(arbiter.counters().read(LineCount::delivered), 100U);
    EXPECT_EQ(arbiter.counters(Stream::b).read(StreamCount::duplicate), 100U);
}

TEST(Arbiter, WithoutAWindowNothingWaits) {
    Script script({.window_ns = 0, .hold_bytes = 65536, .gap_ranges = 64});
    EXPECT_EQ(script.play("A1 A3 B2 A6 A5"), "1 gap2-2 3 2L found2-2 gap4-5 6 5L found5-5");
    EXPECT_EQ(script.arbiter.next_deadline_ns(), Arbiter::never_ns);
}

TEST(Arbiter, WhatFollowsAResetLostOnBothStreamsWaitsForTheWindow) {
    Script script;
    EXPECT_EQ(script.play("A500@1 B500 A1@5 +600 B1 +399"), "500");
    EXPECT_EQ(script.play("+1"), "500 inferredK0:quotes 1");
}

TEST(Arbiter, AnEndlessWindowHoldsToTheEnd) {
    Script script({.window_ns = Arbiter::never_ns, .hold_bytes = 65536, .gap_ranges = 64});
    EXPECT_EQ(script.play("A1 A3 +1000000000000 A4"), "1");
    EXPECT_EQ(script.play("end"), "1 gap2-2 3 4");
}

TEST(Arbiter, WhatWaitsIsBounded) {
    Script script({.window_ns = 1000, .hold_bytes = 2000, .gap_ranges = 64});
    std::string words = "A1";
    for (int number = 3; number < 200; number += 2) {
        words += " A" + std::to_string(number);
    }
    script.play(words);
    EXPECT_GT(script.arbiter.counters().read(LineCount::holds_cut_short), 50U);
    EXPECT_LT(script.arbiter.counters().read(LineCount::holds_cut_short), 99U);
    script.play("end");
    EXPECT_EQ(imbalance(script.arbiter), "");
    EXPECT_EQ(script.arbiter.counters().read(LineCount::delivered), 100U);
    EXPECT_EQ(script.arbiter.counters().read(LineCount::lost), 99U);
}

TEST(Arbiter, ABlockLargerThanTheMemoryEndsTheWait) {
    Script script({.window_ns = 1000, .hold_bytes = 0, .gap_ranges = 64});
    EXPECT_EQ(script.play("A1 A3+2 end"), "1 gap2-2 3 4");
    EXPECT_EQ(imbalance(script.arbiter), "");
}

TEST(Arbiter, AFullGapListIsSaid) {
    Script script({.window_ns = 0, .hold_bytes = 65536, .gap_ranges = 2});
    script.play("A1 A3 A5 A7 A9 B2 end");
    EXPECT_EQ(script.arbiter.counters().read(LineCount::lost), 3U);
    EXPECT_EQ(script.arbiter.counters().read(LineCount::gaps_unlisted), 2U);
    EXPECT_EQ(imbalance(script.arbiter), "");
}

/// A process that runs for weeks therefore still lists the gaps of today.
TEST(Arbiter, InAFullListGapsOfEarlierDaysGiveWay) {
    Script script({.window_ns = 0, .hold_bytes = 65536, .gap_ranges = 2});
    EXPECT_EQ(
        script.play("A1 A3 A5 AC0@900 A1@901 A3@903 A5@905 A7@907 A9@909 B2@902 B4@904 B6@906 end"),
        "1 gap2-2 3 gap4-4 5 resetC0:day 1 gap2-2 3 gap4-4 5 gap6-6 7 gap8-8 9 2L found2-2 "
        "4L found4-4");
    EXPECT_EQ(script.arbiter.gaps(), std::vector<Arbiter::NumberRange>{});
    EXPECT_EQ(script.arbiter.counters().read(LineCount::lost), 4U);
    EXPECT_EQ(script.arbiter.counters().read(LineCount::gaps_unlisted), 4U);
    EXPECT_EQ(imbalance(script.arbiter), "");
}

TEST(Arbiter, AGapIsNotSplitWithoutRoom) {
    Script script({.window_ns = 0, .hold_bytes = 65536, .gap_ranges = 1});
    EXPECT_EQ(script.play("A1 A5 B3 B2+3 end"), "1 gap2-4 5 2L 3L 4L found2-4");
    EXPECT_EQ(imbalance(script.arbiter), "");
}

TEST(Arbiter, CountsByMessageAndStream) {
    Script script;
    script.play("A1+3 B1+3 A3+3 A7+2/1 B6 V2 V9 end");
    const auto count = [&script](Stream stream, StreamCount which) {
        return script.arbiter.counters(stream).read(which);
    };
    EXPECT_EQ(count(Stream::a, StreamCount::packets), 5U);  // the script sends V as stream A
    EXPECT_EQ(count(Stream::a, StreamCount::messages), 8U);
    EXPECT_EQ(count(Stream::a, StreamCount::accepted), 6U);
    EXPECT_EQ(count(Stream::a, StreamCount::duplicate), 1U);
    EXPECT_EQ(count(Stream::a, StreamCount::rejected), 1U);
    EXPECT_EQ(count(Stream::b, StreamCount::messages), 4U);
    EXPECT_EQ(count(Stream::b, StreamCount::accepted), 1U);
    EXPECT_EQ(count(Stream::b, StreamCount::duplicate), 3U);
    EXPECT_EQ(script.arbiter.counters().read(LineCount::unasked), 2U);
    EXPECT_EQ(script.gaps(), "8-8");
}

TEST(Arbiter, TheDeadlineIsThatOfTheOldestThatWaits) {
    Script script;
    script.play("A1");
    EXPECT_EQ(script.arbiter.next_deadline_ns(), Arbiter::never_ns);
    script.play("A3");
    EXPECT_EQ(script.arbiter.next_deadline_ns(), script.now_ns + 1000);
    script.play("+400 A5");
    EXPECT_EQ(script.arbiter.next_deadline_ns(), script.now_ns + 600);
    script.play("B2");
    EXPECT_EQ(script.arbiter.next_deadline_ns(), script.now_ns + 1000);
    script.play("B4");
    EXPECT_EQ(script.arbiter.next_deadline_ns(), Arbiter::never_ns);
}

}  // namespace
}  // namespace pinstrike::feed::test
