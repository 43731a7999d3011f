// path: cold
//
// Readings: as JSON and back, differences, percentiles, and their output.
#include "actors/telemetry/latency/latency_rows.h"
#include "actors/telemetry/latency/latency_text.h"
#include "actors/telemetry/latency/reading.h"
#include "actors/telemetry/latency/reading_json.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace pinstrike::actors::test {
namespace {

using nlohmann::json;

/// Records each of 1 to `count` us once.
void fill(Histogram& histogram, std::uint64_t count) {
    for (std::uint64_t i = 1; i <= count; ++i) {
        histogram.record(static_cast<std::int64_t>(i * 1000));
    }
}

/// One poller, one core, one actor.
LatencyReading example() {
    Histogram many;
    fill(many, 20'000);
    Histogram few;
    few.record(19'000'000);
    few.record(20'000'000);
    LatencyReading reading;
    reading.feed = "opra \"north\", <a&b>";
    reading.version = "0.1.0";
    reading.running_s = reading.seconds = 60;
    reading.stages = {
        {{many.snapshot(), {}}, exchange_to_decoded, "poller0", ""},
        {{many.snapshot(), few.snapshot()}, receive_to_actor, "core0", ""},
        {{few.snapshot(), {}}, actor_waiting, "core0", "my, \"actor\""},
        {{}, actor_service, "core0", "my, \"actor\""},
    };
    reading.loops = {{"poller0", true, 1'000'000, 60'000'000'000, few.snapshot(), few.snapshot()},
                     {"core0", false, 1'000'000, 60'000'000'000, {}, {}}};
    return reading;
}

bool same(const Histogram::Snapshot& left, const Histogram::Snapshot& right) {
    return left.buckets == right.buckets && left.count == right.count &&
           left.sum_ns == right.sum_ns && left.highest_ns == right.highest_ns;
}

json answer_of(const LatencyReading& reading) {
    return json::parse(json{{"histograms", reading_json(reading)}}.dump());
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        lines.push_back(line);
    }
    return lines;
}

TEST(Latency, AReadingIsTheSameBehindTheSocket) {
    LatencyReading sent = example();
    sent.feed = "a \"quoted\" \\ name\nof two lines, with n";
    std::string complaint;
    const auto got = parse_reading(answer_of(sent), complaint);
    ASSERT_TRUE(got) << complaint;
    EXPECT_EQ(got->feed, sent.feed);
    EXPECT_EQ(got->version, sent.version);
    EXPECT_EQ(got->running_s, 60);
    EXPECT_EQ(got->clock_error_s, sent.clock_error_s);
    ASSERT_EQ(got->stages.size(), sent.stages.size());
    for (std::size_t i = 0; i < sent.stages.size(); ++i) {
        EXPECT_EQ(got->stages[i].stage, sent.stages[i].stage);
        EXPECT_EQ(got->stages[i].thread, sent.stages[i].thread);
        EXPECT_EQ(got->stages[i].actor, sent.stages[i].actor);
        EXPECT_TRUE(same(got->stages[i].all, sent.stages[i].all)) << i;
        EXPECT_TRUE(same(got->stages[i].preempted, sent.stages[i].preempted)) << i;
    }
    ASSERT_EQ(got->loops.size(), 2U);
    EXPECT_TRUE(got->loops[0].polls);
    EXPECT_FALSE(got->loops[1].polls);
    EXPECT_EQ(got->loops[0].steps, 1'000'000U);
    EXPECT_EQ(got->loops[0].looked_ns, 60'000'000'000U);
    EXPECT_TRUE(same(got->loops[0].not_empty, sent.loops[0].not_empty));
    EXPECT_TRUE(same(got->loops[0].preemptions, sent.loops[0].preemptions));
}

TEST(Latency, EveryBucketSurvivesTheSocket) {
    LatencyReading sent = example();
    Histogram::Snapshot& all = sent.stages[0].all;
    all = {};
    for (std::size_t i = 0; i < Histogram::buckets_count; ++i) {
        all.buckets[i] = i + 1;
        all.count += i + 1;
    }
    all.sum_ns = ~std::uint64_t{0};  // more than a double holds
    std::string complaint;
    const auto got = parse_reading(answer_of(sent), complaint);
    ASSERT_TRUE(got) << complaint;
    EXPECT_TRUE(same(got->stages[0].all, all));
}

TEST(Latency, WhatIsNoReadingIsReportedAsSuch) {
    std::string complaint;
    EXPECT_FALSE(parse_reading(json::object(), complaint));
    EXPECT_NE(complaint.find("the answer has no reading"), std::string::npos) << complaint;
    EXPECT_FALSE(parse_reading({{"error", "no such view"}}, complaint));
    EXPECT_EQ(complaint, "no such view");
    using Pointer = json::json_pointer;
    for (const auto& [place, wrong] : std::vector<std::pair<const char*, json>>{
             {"/histograms/stages", 1},
             {"/histograms/stages/0/thread", nullptr},
             {"/histograms/stages/0/all/sum_ns", -1},
             {"/histograms/stages/0/all/highest_ns", 1.5},
             {"/histograms/stages/0/all/buckets/0/0", Histogram::buckets_count},
             {"/histograms/stages/0/all/buckets/0", json::array()},
             {"/histograms/running_s", "soon"}}) {
        json answer = answer_of(example());
        answer.at(Pointer{place}) = wrong;
        EXPECT_FALSE(parse_reading(answer, complaint)) << place;
    }
}

/// No answer of a socket ends the program.
TEST(Latency, AnAnswerCutAnywhereOrWithAnyByteChangedBreaksNothing) {
    LatencyReading small = example();
    small.stages.resize(2);
    small.stages[0].all = small.stages[1].all = small.stages[1].preempted;
    const std::string whole = answer_of(small).dump();
    std::string complaint;
    for (std::size_t i = 0; i < whole.size(); ++i) {
        static_cast<void>(
            parse_reading(json::parse(whole.substr(0, i), nullptr, false), complaint));
        std::string changed = whole;
        changed[i] = static_cast<char>(changed[i] ^ (1 << (i % 7)));
        if (const auto got = parse_reading(json::parse(changed, nullptr, false), complaint)) {
            EXPECT_FALSE(latency_text(*got).empty());
            EXPECT_FALSE(latency_svg(*got).empty());
        }
    }
}

TEST(Latency, PercentilesAreKnownToOneSixteenthAndOnlyWhereThereAreValuesEnough) {
    const auto rows = latency_rows(example());
    const auto row = std::find_if(rows.begin(), rows.end(), [](const LatencyRow& each) {
        return each.stage == "receive to actor" && each.kind == LatencyRow::Kind::all;
    });
    ASSERT_NE(row, rows.end());
    for (const Percentile& percentile : percentiles) {
        const double exact = percentile.share * 20e6;
        ASSERT_TRUE(percentile_ns(*row, percentile));
        EXPECT_NEAR(static_cast<double>(*percentile_ns(*row, percentile)), exact, exact / 16);
    }
    const auto few = std::find_if(rows.begin(), rows.end(), [](const LatencyRow& each) {
        return each.stage == "my, \"actor\": waiting";
    });
    ASSERT_NE(few, rows.end());
    EXPECT_TRUE(percentile_ns(*few, percentiles[0]));   // p50 of two
    EXPECT_FALSE(percentile_ns(*few, percentiles[1]));  // p90 of two: not defined
}

TEST(Latency, WithoutStopsIsWhatRemains) {
    const auto stage = example().stages[1];
    const auto rest = without_preemption(stage);
    EXPECT_EQ(rest.count, 19'998U);
    EXPECT_EQ(rest.sum_ns, stage.all.sum_ns - 39'000'000U);
    StageReading torn = stage;  // read during an update: more preempted samples than samples
    std::swap(torn.all, torn.preempted);
    EXPECT_EQ(without_preemption(torn).count, 0U);
}

TEST(Latency, TheDifferenceOfTwoLooksIsWhatCameInBetween) {
    const LatencyReading before = example();
    LatencyReading now = before;
    Histogram more;
    fill(more, 20'000);
    more.record(7'000, 5);
    now.running_s = 70;
    now.stages[0].all = more.snapshot();
    now.loops[0].looked_ns += 10'000'000'000;
    now.loops[0].steps += 50;
    const LatencyReading part = since(now, before);
    EXPECT_EQ(part.seconds, 10);
    EXPECT_EQ(part.running_s, 70);
    EXPECT_EQ(part.stages[0].all.count, 5U);
    EXPECT_EQ(part.stages[0].all.sum_ns, 35'000U);
    EXPECT_NEAR(static_cast<double>(part.stages[0].all.highest_ns), 7'000, 7'000.0 / 16);
    EXPECT_EQ(part.stages[1].all.count, 0U);
    EXPECT_EQ(part.loops[0].looked_ns, 10'000'000'000U);
    EXPECT_EQ(part.loops[0].steps, 50U);
    EXPECT_EQ(part.loops[0].preemptions.count, 0U);
}

/// Half of the time is in steps of 1 ms, half in empty steps of 100 ns. So half of the packets come
/// during a long step, and wait for half of it on average.
TEST(Latency, TheWaitForALookIsWeightedByTimeNotByTurns) {
    Histogram not_empty;
    not_empty.record(1'000'000, 1'000);
    LoopReading loop;
    loop.steps = 1'000 + 10'000'000;
    loop.looked_ns = 2'000'000'000;
    loop.not_empty = not_empty.snapshot();
    const Histogram::Snapshot waits = wait_for_poll(loop);
    EXPECT_NEAR(static_cast<double>(waits.count), 2e9, 2e9 / 32);
    EXPECT_LE(waits.quantile_ns(0.45), 100U);
    EXPECT_NEAR(static_cast<double>(waits.quantile_ns(0.75)), 500e3, 500e3 / 8);
    EXPECT_NEAR(static_cast<double>(waits.quantile_ns(0.95)), 900e3, 900e3 / 8);
    EXPECT_EQ(wait_for_poll({}).count, 0U);
}

TEST(Latency, TheTextFitsAndSaysNothingItDoesNotKnow) {
    LatencyReading reading = example();
    reading.clock_steps = 2;
    const std::string text = latency_text(reading);
    for (const std::string& line : lines_of(text)) {
        EXPECT_LE(line.size(), 100U) << line;
    }
    EXPECT_NE(text.find("receive to actor"), std::string::npos);
    EXPECT_NE(text.find("It was set 2 times"), std::string::npos);
    EXPECT_EQ(text.find("nan"), std::string::npos);
    EXPECT_NE(latency_text({}).find("preemption"), std::string::npos);  // an empty reading
    reading.from_due = true;
    EXPECT_NE(latency_text(reading).find("due to actor"), std::string::npos);
}

TEST(Latency, ThePlotIsDrawnOfWhatThereIs) {
    const std::string svg = latency_svg(example());
    EXPECT_NE(svg.find("opra &quot;north&quot;, &lt;a&amp;b&gt;"), std::string::npos);
    EXPECT_NE(svg.find("core0 receive to actor, without preemption"), std::string::npos);
    EXPECT_EQ(svg.find("service"), std::string::npos);  // it has no values
    EXPECT_NE(latency_svg({}).find("nothing was measured"), std::string::npos);
}

}  // namespace
}  // namespace pinstrike::actors::test
