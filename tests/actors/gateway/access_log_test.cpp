// path: cold
//
// Lines of the access log, and their sums.
#include "actors/gateway/access_log.h"

#include "config/time_units.h"
#include "tests/config/problems.h"
#include "tests/nic/frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <string>

namespace pinstrike::actors::gateway::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// 2026-11-30 23:59:30.250 UTC.
constexpr std::int64_t november_ns = 1'796'083'170'250'000'000;

AccessEntry entry_of(const std::string& user, std::int64_t to_ns) {
    return {.session = user + "-1",
            .user = user,
            .address = "192.0.2.1",
            .client = "Python \"0.88.0\"",
            .from_ns = to_ns - 20 * second_ns,
            .to_ns = to_ns,
            .schemas = "cmbp-1 trades",
            .underlyings = 3,
            .records = 1000,
            .bytes = 1 << 20};
}

UsageByUser usage_of_text(const std::string& text, const std::string& month, Problems& problems) {
    const nic::ScratchDirectory scratch;
    std::ofstream{scratch.file("log")} << text;
    return usage_of(scratch.file("log"), month, problems).value_or(UsageByUser{});
}

TEST(AccessLines, are_objects_of_one_line) {
    EXPECT_EQ(to_line(entry_of("a", november_ns)),
              R"({"session":"a-1","user":"a","address":"192.0.2.1","client":"Python \"0.88.0\"",)"
              R"("from":"2026-11-30T23:59:10.250Z","to":"2026-11-30T23:59:30.250Z",)"
              R"("schemas":"cmbp-1 trades","underlyings":3,"records":1000,"bytes":1048576})"
              "\n");
    AccessEntry all = entry_of("a", november_ns);
    all.underlyings.reset();
    EXPECT_THAT(to_line(all), HasSubstr(R"("underlyings":"all",)"));
}

TEST(AccessLogs, are_appended_to) {
    const nic::ScratchDirectory scratch;
    const std::string path = scratch.file("access.log");
    const AccessEntry one = entry_of("a", november_ns);
    const AccessEntry two = entry_of("b", november_ns);
    for (const AccessEntry& entry : {one, two}) {
        AccessLog log{path};
        Problems problems;
        ASSERT_TRUE(log.open(problems)) << text_of(problems);
        EXPECT_TRUE(log.add(entry));
    }
    std::ifstream file{path};
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>{file}, {}), to_line(one) + to_line(two));
}

TEST(AccessLogs, keep_a_line_that_was_written_in_part_apart_from_the_next_one) {
    const nic::ScratchDirectory scratch;
    const std::string path = scratch.file("access.log");
    AccessLog log{path};
    Problems problems;
    ASSERT_TRUE(log.open(problems));
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    auto* const handler = ::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{20, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    EXPECT_FALSE(log.add(entry_of("a", november_ns)));
    EXPECT_FALSE(log.add(entry_of("a", november_ns)));
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    ::signal(SIGXFSZ, handler);
    EXPECT_TRUE(log.add(entry_of("b", november_ns)));
    std::ifstream file{path};
    const std::string text(std::istreambuf_iterator<char>{file}, {});
    EXPECT_EQ(text.size(), 21 + to_line(entry_of("b", november_ns)).size());
    EXPECT_EQ(usage_of_text(text, "2026-11", problems).at("b").records, 1000U);
    EXPECT_EQ(problems.size(), 1U);
}

TEST(AccessLogs, without_a_path_are_not_written) {
    AccessLog log{""};
    Problems problems;
    EXPECT_TRUE(log.open(problems));
    EXPECT_TRUE(log.add(entry_of("a", november_ns)));
}

TEST(AccessLogs, that_cannot_be_written_are_a_problem) {
    const nic::ScratchDirectory scratch;
    AccessLog log{scratch.file("absent/access.log")};
    Problems problems;
    EXPECT_FALSE(log.open(problems));
    EXPECT_THAT(text_of(problems), HasSubstr("access_log: cannot write"));
    EXPECT_FALSE(log.add(entry_of("a", november_ns)));
}

TEST(Usage, counts_a_session_of_several_lines_once_and_each_month_its_own_part) {
    constexpr std::int64_t month_end_ns = 1'796'083'200'000'000'000;
    AccessEntry first = entry_of("a", november_ns);
    AccessEntry last = first;
    last.from_ns = first.to_ns;
    last.to_ns = month_end_ns - 1'000'000;
    AccessEntry next = first;
    next.from_ns = month_end_ns;
    next.to_ns = month_end_ns + 5 * second_ns;
    const std::string text = to_line(first) + to_line(last) + to_line(next);
    Problems problems;
    const Usage november = usage_of_text(text, "2026-11", problems).at("a");
    EXPECT_EQ(november.sessions.size(), 1U);
    EXPECT_EQ(november.records, 2000U);
    const Usage december = usage_of_text(text, "2026-12", problems).at("a");
    EXPECT_EQ(december.sessions.size(), 1U);
    EXPECT_EQ(december.connected_ns, 5 * second_ns);
    EXPECT_TRUE(problems.empty()) << text_of(problems);
}

TEST(Usage, sums_by_user_the_sessions_that_ended_in_the_month) {
    AccessEntry other = entry_of("b", november_ns);
    other.schemas = "definition";
    other.underlyings.reset();
    other.address = "192.0.2.7";
    AccessEntry more = entry_of("a", november_ns);
    more.session = "a-2";
    more.schemas = "trades tcbbo";
    more.underlyings = 2;
    more.address = "192.0.2.9";
    more.records = 5;
    more.bytes = 7;
    more.from_ns = november_ns - 3600 * second_ns;
    const std::string text = to_line(entry_of("a", november_ns)) + to_line(other) + to_line(more) +
                             to_line(entry_of("a", november_ns + 30 * second_ns));
    Problems problems;
    const UsageByUser usage = usage_of_text(text, "2026-11", problems);
    EXPECT_TRUE(problems.empty()) << text_of(problems);
    ASSERT_EQ(usage.size(), 2U);
    const Usage& a = usage.at("a");
    EXPECT_THAT(a.sessions, ElementsAre("a-1", "a-2"));
    EXPECT_EQ(a.connected_ns, 3620 * second_ns);
    EXPECT_THAT(a.schemas, ElementsAre("cmbp-1", "tcbbo", "trades"));
    EXPECT_THAT(a.addresses, ElementsAre("192.0.2.1", "192.0.2.9"));
    EXPECT_FALSE(a.all_underlyings);
    EXPECT_EQ(a.underlyings_max, 3U);
    EXPECT_EQ(a.records, 1005U);
    EXPECT_EQ(a.bytes, (1U << 20) + 7);
    EXPECT_TRUE(usage.at("b").all_underlyings);
    EXPECT_EQ(usage_of_text(text, "2026-12", problems).at("a").sessions.size(), 1U);
    EXPECT_TRUE(usage_of_text(text, "2026-10", problems).empty());
    EXPECT_EQ(usage_csv(usage),
              "user,sessions,connected_seconds,underlyings,addresses,records,bytes,schemas\n"
              "a,2,3620,3,2,1005,1048583,cmbp-1 tcbbo trades\n"
              "b,1,20,all,1,1000,1048576,definition\n");
    const std::string table = usage_table(usage);
    EXPECT_THAT(table, testing::StartsWith("user "));
    EXPECT_THAT(table, HasSubstr("  cmbp-1 tcbbo trades\n"));
    EXPECT_THAT(table, HasSubstr(" 1.01 "));
}

TEST(Usage, a_session_that_subscribed_nothing_did_not_have_all_underlyings) {
    AccessEntry idle = entry_of("a", november_ns);
    idle.schemas = "";
    idle.underlyings = 0;
    Problems problems;
    EXPECT_FALSE(usage_of_text(to_line(idle), "2026-11", problems).at("a").all_underlyings);
}

TEST(Usage, reports_lines_that_are_none_and_does_not_count_them) {
    const std::string good = to_line(entry_of("a", november_ns));
    std::string without_records = good;
    without_records.replace(without_records.find("records"), 7, "recordz");
    std::string wrong_time = good;
    wrong_time.replace(wrong_time.find("2026-11-30T23:59:30"), 19, "30.11.2026 23:59:30");
    std::string negative = good;
    negative.replace(negative.find("1000"), 4, "\"m\"");
    Problems problems;
    const UsageByUser usage =
        usage_of_text("no line\n" + good + without_records + wrong_time + "[]\n" + negative +
                          good.substr(0, 60) + "\n" + good,
                      "2026-11", problems);
    ASSERT_EQ(problems.size(), 6U) << text_of(problems);
    EXPECT_THAT(text_of(problems), HasSubstr("log:1: found no line of an access log"));
    EXPECT_EQ(problems[1].place.line, 3U);
    EXPECT_EQ(problems[5].place.line, 7U);
    EXPECT_EQ(usage.at("a").sessions.size(), 1U);
    EXPECT_EQ(usage.at("a").records, 2000U);
    EXPECT_EQ(usage.at("a").connected_ns, 40 * second_ns);
}

TEST(Usage, counts_all_lines_of_a_long_log) {
    const std::string line = to_line(entry_of("a", november_ns));
    const std::size_t lines = (std::size_t{5} << 20) / 4 / line.size();
    std::string text;
    for (std::size_t i = 0; i < lines; ++i) {
        text += line;
    }
    Problems problems;
    EXPECT_EQ(usage_of_text(text, "2026-11", problems)["a"].records, 1000 * lines);
    EXPECT_TRUE(problems.empty()) << text_of(problems);
}

TEST(Usage, of_a_file_that_cannot_be_read_is_a_problem) {
    const nic::ScratchDirectory scratch;
    for (const std::string& file : {scratch.file("absent"), scratch.file("")}) {
        Problems problems;
        EXPECT_FALSE(usage_of(file, "2026-11", problems));
        EXPECT_THAT(text_of(problems), HasSubstr("cannot be read: ")) << file;
    }
}

}  // namespace
}  // namespace pinstrike::actors::gateway::test
