// path: cold
//
// Tests the notes of an arbiter for recovery: which numbers a repair could fill, and which are no
// longer needed. Tests the time of gaps too.
#include "feed/arbitration/arbiter.h"
#include "tests/feed/arbitration/arbiter_script.h"
#include "tests/feed/numbering.h"

#include <gtest/gtest.h>

#include <ostream>
#include <string>

namespace pinstrike::feed::test {
namespace {

/// Records the notes as text. "?2-3@5..9": 2 and 3 are missing, stamped from 5 to 9 (* if unknown).
/// "!2-3": they are no longer missing.
class NoteSink final : public WordSink {
  public:
    std::string notes;

    void missing(Position begin, Position end, std::int64_t ts_before_ns,
                 std::int64_t ts_behind_ns) override {
        note('?', begin, end);
        notes.append("@").append(stamp(ts_before_ns)).append("..").append(stamp(ts_behind_ns));
    }

    void found(Position begin, Position end) override { note('!', begin, end); }

  private:
    void note(char what, Position begin, Position end) {
        EXPECT_LT(begin, end);
        notes.append(notes.empty() ? "" : " ").append(1, what);
        notes.append(std::to_string(numbering.number_at(begin))).append("-");
        notes.append(std::to_string(numbering.number_at(end - 1)));
    }

    static std::string stamp(std::int64_t ts_ns) {
        return ts_ns == no_ts_ns || ts_ns == any_ts_ns ? "*"
                                                       : std::to_string(ts_ns / Script::step_ts);
    }
};

struct NotesRow {
    const char* rule;
    const char* input;
    const char* notes;
    ArbitrationConfig config{.window_ns = 1000, .hold_bytes = 65536, .gap_ranges = 64};
};

void PrintTo(const NotesRow& row, std::ostream* out) {
    *out << row.rule;
}

class ArbiterNotes : public testing::TestWithParam<NotesRow> {};

TEST_P(ArbiterNotes, SayWhatToLookFor) {
    const NotesRow& row = GetParam();
    SCOPED_TRACE(std::string(row.rule) + "\n  input: " + row.input);
    NoteSink sink;
    Script script{row.config, sink};
    script.play(std::string(row.input) + " end");
    EXPECT_EQ(sink.notes, row.notes);
    EXPECT_EQ(sink.wrong, "");
}

INSTANTIATE_TEST_SUITE_P(
    Holes, ArbiterNotes,
    testing::Values(NotesRow{"in order, nothing", "A1+3 B1+3 A4 B4 AN4", ""},
                    NotesRow{"a hole is noted when it opens, not when it is given up",
                             "A1@5 A4@9 wait A5", "?2-3@5..9"},
                    NotesRow{"filled in time", "A1@5 A4@9 B2+2", "?2-3@5..9 !2-3"},
                    NotesRow{"filled in part", "A1@5 A4@9 B3 wait", "?2-3@5..9 !3-3"},
                    NotesRow{"filled late", "A1@5 A4@9 wait B2+2", "?2-3@5..9 !2-3"},
                    NotesRow{"filled by a repair", "A1@5 A4@9 wait V1+4", "?2-3@5..9 !2-3"},
                    NotesRow{"a second hole behind what waits", "A1@5 A3@7 A6@9 B2+4",
                             "?2-2@5..7 ?4-5@7..9 !2-2 "
                             "!4-5"},
                    NotesRow{"the tail, from line integrity", "A1@5 AN3@9 A4@10", "?2-3@5..9"},
                    NotesRow{"and more behind it", "A1@5 AN3@9 A6@12", "?2-3@5..9 ?4-5@9..12"},
                    NotesRow{"what reaches beyond a hole", "A1@5 A3@7 B2+4", "?2-2@5..7 !2-2"},
                    NotesRow{"over the wrap", "A4294967294@5 A2@9 wait V1",
                             "?4294967295-1@5..9 !1-1"},
                    NotesRow{"from before the start, nothing", "A10 B8+2", ""},
                    NotesRow{"where nothing can wait",
                             "A1@5 A4@9 B3 B2",
                             "?2-3@5..9 !3-3 !2-2",
                             {.window_ns = 1000, .hold_bytes = 0, .gap_ranges = 64}}));

INSTANTIATE_TEST_SUITE_P(
    InVain, ArbiterNotes,
    testing::Values(NotesRow{"what cannot be decoded is not looked for", "A1+3/1 A4", ""},
                    NotesRow{"nor behind a hole", "A1@5 A4+3/1@9", "?2-3@5..9"},
                    NotesRow{"nor in one", "A1@5 A4@9 B2+2/0", "?2-3@5..9 !2-3"},
                    NotesRow{"nor when it was declared lost before", "A1@5 A4@9 wait B2+2/1",
                             "?2-3@5..9 !2-2 !3-3"},
                    NotesRow{"nor what the list of gaps has no room for",
                             "A1@1 A3@2 A5@3 B4",
                             "?2-2@1..2 ?4-4@2..3 !4-4",
                             {.window_ns = 0, .hold_bytes = 65536, .gap_ranges = 1}}));

INSTANTIATE_TEST_SUITE_P(
    Resets, ArbiterNotes,
    testing::Values(
        NotesRow{"what a raising reset skips is not missing", "A10 AK19 A20 BK19 B20", ""},
        NotesRow{"a hole stays open over a reset", "A500@1 A502@3 AC0@4 A1@5 B500 B501@2",
                 "?501-501@1..3 !501-501"},
        NotesRow{"the old epoch had a hole", "A500@1 AC0@5 A1@6 B503@4", "?501-502@1..4"},
        NotesRow{"and a tail", "A500@1 AC0@5 A1@6 BN502@4", "?501-502@1..4"},
        NotesRow{"the first of a new epoch", "A500@1 AK0@5 A3@6", "?1-2@5..6"},
        NotesRow{"what waits in the wrong epoch shows no hole there",
                 "A10@1 A20@5 B10 BK19@3 B20 A21@6", "?11-19@1..5 ?20-20@1..3 !11-20"},
        NotesRow{"an inferred epoch began earlier", "A500@1 A2@6 A3@7 wait BK0@3 B1@5 B2 B3",
                 "?1-1@3..6 !1-1"}));

/// Records each gap with its time in steps.
class GapTimes final : public WordSink {
  public:
    std::string text;

    void gap(std::uint64_t first, std::uint64_t last, std::uint64_t, GapCause cause,
             std::int64_t ts_exchange_ns, DeliveryFlags /*flags*/) override {
        if (cause == GapCause::line) {
            text.append(text.empty() ? "" : " ").append(std::to_string(first)).append("-");
            text.append(std::to_string(last)).append("@");
            text.append(std::to_string(ts_exchange_ns / Script::step_ts));
        }
    }
};

struct TimedGap {
    const char* rule;
    const char* input;
    const char* gaps;
    std::size_t hold_bytes = 65536;
};

void PrintTo(const TimedGap& row, std::ostream* out) {
    *out << row.rule;
}

class ArbiterGapTimes : public testing::TestWithParam<TimedGap> {};

TEST_P(ArbiterGapTimes, AreNoLaterThanTheLostMessages) {
    const TimedGap& row = GetParam();
    SCOPED_TRACE(std::string(row.rule) + "\n  input: " + row.input);
    GapTimes sink;
    Script script{{.window_ns = 1000, .hold_bytes = row.hold_bytes, .gap_ranges = 64}, sink};
    script.play(std::string(row.input) + " end");
    EXPECT_EQ(sink.text, row.gaps);
}

// A line's end of day must not hide a gap in messages of the day that arrive behind it.
INSTANTIATE_TEST_SUITE_P(
    Gaps, ArbiterGapTimes,
    testing::Values(TimedGap{"that of the block before", "A1@5 A4@9", "2-3@5"},
                    TimedGap{"that of the block behind, if earlier", "A1@1 A2@9 A5@5 wait",
                             "3-4@5"},
                    TimedGap{"of the first hole", "A1@1 A2@9 A5@5 A9@7 wait", "3-4@5 6-8@7"},
                    TimedGap{"where nothing can wait", "A1@1 A2@9 A5@5", "3-4@5", 0},
                    TimedGap{"at the end of numbers that a reset ended",
                             "A499@1 A500@5 AK0@8 A1@9 B503@3", "501-502@3"}));

}  // namespace
}  // namespace pinstrike::feed::test
