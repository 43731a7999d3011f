// path: cold
//
// A program that links the appliance and registers no traffic generator.
#include "actors/appliance/appliance.h"
#include "actors/book/book_config.h"
#include "actors/topology/load_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace pinstrike::actors {
namespace {

constexpr std::string_view head =
    "lines: 1\nports: [{name: s, kind: sim}]\npollers: [{name: p}]\ncores: [{name: c}]\n";

TEST(TrafficGenerator, a_sim_port_without_one_is_not_opened) {
    Problems problems;
    auto config = parse_config(head, "f", problems);
    ASSERT_TRUE(config);
    config->actors.get<BookConfig>().series_capacity = 1'000;
    EXPECT_EQ(Appliance::build(*config, problems), nullptr);
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_EQ(problems[0].text,
              "port s: kind sim needs a traffic generator, and this program has none for the feed");
}

TEST(TrafficGenerator, its_key_is_unknown_without_one) {
    Problems problems;
    EXPECT_FALSE(parse_config(std::string{head} + "traffic: {seed: 1}\n", "f", problems));
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_THAT(problems[0].text, testing::StartsWith("traffic: "));
}

}  // namespace
}  // namespace pinstrike::actors
