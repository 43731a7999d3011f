// path: cold
#include "actors/telemetry/log/log.h"

#include "actors/telemetry/log/line_writer.h"
#include "actors/telemetry/log/log_queue.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace pinstrike::actors::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

LogTime at(double seconds) {
    const auto ns = static_cast<std::int64_t>(seconds * 1e9);
    return {1'773'667'800'000'000'000 + ns, ns};  // 2026-03-16T13:30:00Z
}

/// A log, and the lines that it wrote.
struct Written {
    explicit Written(LogLevel level, bool journal = false)
        : log({level, journal, [this](std::string_view line) {
                   lines.emplace_back(line);
                   return works;
               }}) {}

    std::vector<std::string> lines;
    bool works = true;
    Log log;
};

LogEntry gap(const std::string& subject, const std::string& text = "1 gap") {
    return {LogCode::gap_declared, subject, text};
}

TEST(Log, aLineHasTimeLevelCodeSubjectAndSentence) {
    Written written(LogLevel::info);
    written.log.add(gap("line 3", "2 gaps"), at(0.1235));
    EXPECT_THAT(written.lines,
                ElementsAre("2026-03-16T13:30:00.123Z error gap_declared line 3: 2 gaps\n"));
}

TEST(Log, theJournalGetsPrioritiesAndNoTime) {
    Written written(LogLevel::debug, true);
    written.log.add(gap("line 3"), at(0));
    written.log.add({LogCode::link_down, "port a", "down"}, at(0));
    written.log.add({LogCode::link_up, "port a", "up"}, at(0));
    written.log.add({LogCode::dpdk_debug, "dpdk", "said"}, at(0));
    EXPECT_THAT(
        written.lines,
        ElementsAre("<3>error gap_declared line 3: 1 gap\n", "<4>warning link_down port a: down\n",
                    "<6>info link_up port a: up\n", "<7>debug dpdk_debug dpdk: said\n"));
}

TEST(Log, aLevelKeepsOutWhatIsLessSevere) {
    const std::vector<LogCode> codes{LogCode::stream_heard, LogCode::running, LogCode::link_down,
                                     LogCode::gap_declared};
    for (const LogLevel level :
         {LogLevel::debug, LogLevel::info, LogLevel::warning, LogLevel::error}) {
        Written written(level);
        for (const LogCode code : codes) {
            written.log.add({code, "it", "is"}, at(0));
        }
        EXPECT_EQ(written.lines.size(), codes.size() - static_cast<std::size_t>(level));
        EXPECT_EQ(written.log.counters().read(LogCount::written), written.lines.size());
        EXPECT_EQ(written.log.counters().read(LogCount::limited), 0U);
    }
}

TEST(Log, theSameIsReportedAtOneTwoFourSecondsAndThenOnceAMinute) {
    Written written(LogLevel::info);
    std::vector<double> reported;
    constexpr double hour_s = 3600;
    for (double second = 0; second < hour_s; second += 0.5) {
        const std::size_t before = written.lines.size();
        written.log.step(at(second));
        written.log.add(gap("line 3"), at(second));
        ASSERT_LE(written.lines.size(), before + 1);
        if (written.lines.size() != before) {
            reported.push_back(second);
        }
    }
    ASSERT_GT(reported.size(), 8U);
    EXPECT_EQ((std::vector<double>{reported.begin(), reported.begin() + 8}),
              (std::vector<double>{0, 1, 3, 7, 15, 31, 63, 123}));
    EXPECT_EQ(reported.size(), 6U + static_cast<std::size_t>((hour_s - 63) / 60 + 1));
}

TEST(Log, whatWasHeldBackIsCountedAndItsLastIsReported) {
    Written written(LogLevel::info);
    for (int i = 1; i <= 5; ++i) {
        written.log.add(gap("line 3", fmt::format("{} lost", i)), at(0.1 * i));
    }
    written.log.step(at(0.9));
    EXPECT_EQ(written.lines.size(), 1U);
    written.log.step(at(1.2));
    ASSERT_EQ(written.lines.size(), 2U);
    EXPECT_EQ(written.lines[1],
              "2026-03-16T13:30:01.200Z error gap_declared line 3: 4 more like this, the last: 5 "
              "lost\n");
    EXPECT_EQ(written.log.counters().read(LogCount::limited), 4U);
    written.log.step(at(100));
    EXPECT_EQ(written.lines.size(), 2U) << "nothing is held back any more";
}

TEST(Log, anEntryThatMayBeReportedSaysHowManyWereNot) {
    Written written(LogLevel::info);
    written.log.add(gap("line 3"), at(0));
    written.log.add(gap("line 3"), at(0.5));
    written.log.add(gap("line 3", "3 gaps"), at(1));
    EXPECT_EQ(written.lines.back(),
              "2026-03-16T13:30:01.000Z error gap_declared line 3: 3 gaps (1 more like this "
              "before)\n");
}

TEST(Log, subjectsAndCodesAreLimitedEachByItself) {
    Written written(LogLevel::info);
    for (int i = 0; i < 3; ++i) {
        written.log.add(gap("line 1"), at(0));
        written.log.add(gap("line 2"), at(0));
        written.log.add({LogCode::gap_mended, "line 1", "repaired"}, at(0));
    }
    EXPECT_EQ(written.lines.size(), 3U);
}

TEST(Log, afterAQuietMinuteItBeginsAnew) {
    Written written(LogLevel::info);
    for (int i = 0; i < 20; ++i) {
        written.log.add(gap("line 1"), at(i));
    }
    written.log.step(at(50));
    written.lines.clear();
    written.log.add(gap("line 1"), at(80));
    written.log.add(gap("line 1"), at(81));
    EXPECT_EQ(written.lines.size(), 2U);
}

TEST(Log, aBurstOfDpdksIsLetPass) {
    Written written(LogLevel::info);
    for (int i = 0; i < 200; ++i) {
        written.log.add({LogCode::dpdk_info, "dpdk", "EAL: said"}, at(0));
    }
    EXPECT_EQ(written.lines.size(), row_of(LogCode::dpdk_info).burst);
    written.log.finish(at(0));
    EXPECT_THAT(written.lines.back(), ::testing::HasSubstr("100 more like this"));
}

TEST(Log, whatCannotBeWrittenIsCounted) {
    Written written(LogLevel::info);
    written.works = false;
    written.log.add(gap("line 1"), at(0));
    written.log.add(gap("line 2"), at(0));
    EXPECT_EQ(written.log.counters().read(LogCount::failed), 2U);
    EXPECT_EQ(written.log.counters().read(LogCount::written), 0U);
}

TEST(Log, anEntryIsOneLineOfBoundedLengthWhateverItSays) {
    Written written(LogLevel::info);
    written.log.add(gap("line 1", "a\nb\x1b[2Jc\x7f"), at(0));
    written.log.add(gap("line 2", std::string(5000, 'x')), at(0));
    EXPECT_THAT(written.lines[0], ::testing::EndsWith("line 1: a b [2Jc \n"));
    EXPECT_EQ(written.lines[1].size(), Log::line_bytes_max);
    EXPECT_THAT(written.lines[1], ::testing::EndsWith("x...\n"));
}

TEST(LogCodes, areDistinguishedAndExplained) {
    std::set<std::string_view> codes;
    for (const LogRow& row : LogCode_rows) {
        EXPECT_TRUE(codes.insert(row.code).second) << row.code;
        EXPECT_GT(row.sentence.size(), 10U) << row.code;
        EXPECT_GE(row.burst, 1U) << row.code;
    }
    EXPECT_EQ(row_of(LogCode::lines_left_out).code, "lines_left_out");
}

/// A pipe; its ends are closed at the end.
struct Pipe {
    Pipe() { EXPECT_EQ(::pipe(ends), 0); }

    ~Pipe() {
        ::close(ends[0]);
        ::close(ends[1]);
    }

    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;

    int ends[2]{};
};

TEST(LineWriter, neitherWaitsForAPipeNobodyEmptiesNorTearsItsLines) {
    const Pipe pipe;
    LineWriter writer(pipe.ends[1]);
    const std::string line = std::string(Log::line_bytes_max - 1, 'x') + '\n';
    std::size_t lines = 0;
    while (writer.write(line)) {
        ASSERT_LT(++lines, 1'000'000U);
    }
    EXPECT_GT(lines, 0U);
    EXPECT_FALSE(writer.write(line));
    std::string got(lines * line.size() + 1, '\0');
    ASSERT_EQ(::read(pipe.ends[0], got.data(), got.size()),
              static_cast<ssize_t>(lines * line.size()));
    EXPECT_TRUE(writer.write("again\n"));
    const ssize_t bytes = ::read(pipe.ends[0], got.data(), got.size());
    EXPECT_EQ(got.substr(0, static_cast<std::size_t>(bytes)), "again\n");
}

TEST(LineWriter, longTextThatWasCutOffIsEndedBeforeTheNext) {
    const Pipe pipe;
    LineWriter writer(pipe.ends[1]);
    const std::string text(1'000'000, 'x');
    EXPECT_FALSE(writer.write(text));
    std::string got(text.size(), '\0');
    ASSERT_GT(::read(pipe.ends[0], got.data(), got.size()), 0);
    EXPECT_TRUE(writer.write("next\n"));
    const ssize_t bytes = ::read(pipe.ends[0], got.data(), got.size());
    EXPECT_EQ(got.substr(0, static_cast<std::size_t>(bytes)), "\nnext\n");
}

TEST(LineWriter, failsOnAFullDiskAClosedPipeAndNoDescriptor) {
    const int full = ::open("/dev/full", O_WRONLY);
    ASSERT_GE(full, 0);
    EXPECT_FALSE(LineWriter{full}.write("line\n"));
    ::close(full);
    EXPECT_FALSE(LineWriter{full}.write("line\n"));

    const auto before = std::signal(SIGPIPE, SIG_IGN);
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    ::close(ends[0]);
    EXPECT_FALSE(LineWriter{ends[1]}.write("line\n"));
    ::close(ends[1]);
    std::signal(SIGPIPE, before);
}

TEST(Journal, isWhatJournalStreamNames) {
    const Pipe pipe;
    const Pipe other;

    struct stat file {};

    ASSERT_EQ(::fstat(pipe.ends[1], &file), 0);
    ::setenv("JOURNAL_STREAM", fmt::format("{}:{}", file.st_dev, file.st_ino).c_str(), 1);
    EXPECT_TRUE(is_journal(pipe.ends[1]));
    EXPECT_FALSE(is_journal(other.ends[1]));
    ::unsetenv("JOURNAL_STREAM");
    EXPECT_FALSE(is_journal(pipe.ends[1]));
}

TEST(Journal, getsFieldsAndWhereItTakesNoneALine) {
    std::string folder = testing::TempDir() + "journalXXXXXX";
    ASSERT_NE(::mkdtemp(folder.data()), nullptr);
    const std::string path = folder + "/socket";
    const int journal = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, path.c_str());
    ASSERT_EQ(::bind(journal, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    const JournalWriter fields{path};
    std::vector<std::string> lines;
    const auto take = [&lines](std::string_view line) {
        lines.emplace_back(line);
        return true;
    };
    Log log{{LogLevel::info, true, take, &fields}};
    log.add(gap("line 3\nMESSAGE=forged", "2 gaps"), at(0));
    std::array<char, 4096> got{};
    const ssize_t bytes = ::recv(journal, got.data(), got.size(), 0);
    ASSERT_GT(bytes, 0);
    EXPECT_EQ(std::string(got.data(), static_cast<std::size_t>(bytes)),
              "PRIORITY=3\nSYSLOG_IDENTIFIER=pinstrike\nPINSTRIKE_CODE=gap_declared\n"
              "PINSTRIKE_SUBJECT=line 3 MESSAGE=forged\n"
              "MESSAGE=error gap_declared line 3 MESSAGE=forged: 2 gaps\n");
    EXPECT_THAT(lines, IsEmpty());
    ::close(journal);
    log.add(gap("line 4"), at(0));
    EXPECT_THAT(lines, ElementsAre("<3>error gap_declared line 4: 1 gap\n"));
    EXPECT_FALSE(JournalWriter{folder + "/nobody"}.takes());
    ::unlink(path.c_str());
    ::rmdir(folder.c_str());
}

TEST(LogQueue, takesFromManyThreadsUpToItsBound) {
    LogQueue queue;
    constexpr std::size_t each = LogQueue::messages_max;
    std::vector<std::thread> threads;
    std::size_t taken = 0;
    std::uint64_t left_out = 0;
    const auto take = [&] {
        const LogQueue::Taken now = queue.take();
        EXPECT_LE(now.messages.size(), LogQueue::messages_max);
        taken += now.messages.size();
        left_out += now.left_out;
    };
    for (int i = 0; i < 3; ++i) {
        threads.emplace_back([&] {
            for (std::size_t message = 0; message < each; ++message) {
                queue.put({LogCode::dpdk_info, "dpdk", "said"}, at(0));
            }
        });
    }
    take();
    for (std::thread& thread : threads) {
        thread.join();
    }
    take();
    EXPECT_EQ(taken + left_out, 3 * each);
    EXPECT_GE(taken, each);
    EXPECT_THAT(queue.take().messages, IsEmpty());
}

}  // namespace
}  // namespace pinstrike::actors::test
