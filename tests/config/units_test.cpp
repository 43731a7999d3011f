// path: cold
#include "config/units.h"

#include "config/limits.h"
#include "config/nearest.h"
#include "config/places.h"

#include <gtest/gtest.h>

namespace pinstrike {
namespace {

TEST(Units, Durations) {
    EXPECT_EQ(parse_duration_ns("2ms"), 2'000'000);
    EXPECT_EQ(parse_duration_ns("1.5s"), 1'500'000'000);
    EXPECT_EQ(parse_duration_ns("500us"), 500'000);
    EXPECT_EQ(parse_duration_ns("0ns"), 0);
    EXPECT_EQ(parse_duration_ns("10m"), 600'000'000'000);
    EXPECT_EQ(parse_duration_ns("8h"), 28'800'000'000'000);
    EXPECT_EQ(parse_duration_ns("0.5h"), 1'800'000'000'000);
    for (const char* bad : {"", "2", "ms", "2 ms", "-2ms", "2d", "1e3s", "2msx", "1.2.3s", ".s",
                            "9999999999999999999s", "99999999999s"}) {
        EXPECT_EQ(parse_duration_ns(bad), std::nullopt) << bad;
    }
    for (const std::int64_t ns : {0L, 1L, 999L, 1'000L, 1'500'000L, 2'000'000'000L}) {
        EXPECT_EQ(parse_duration_ns(duration_text(ns)), ns);
    }
    EXPECT_EQ(duration_text(1'500'000), "1500us");
}

TEST(Units, Sizes) {
    EXPECT_EQ(parse_bytes("512KiB"), 524'288U);
    EXPECT_EQ(parse_bytes("1GiB"), 1U << 30);
    EXPECT_EQ(parse_bytes("0.5KiB"), 512U);
    for (const char* bad : {"512", "512KB", "512K", "9999999999GiB", "-1B", "KiB"}) {
        EXPECT_EQ(parse_bytes(bad), std::nullopt) << bad;
    }
    EXPECT_EQ(bytes_text(64 << 20), "64MiB");
    EXPECT_EQ(bytes_text(1025), "1025B");
}

TEST(Units, Ranges) {
    EXPECT_EQ(parse_ranges("220,1-3, 201 - 202"),
              (std::vector<std::uint16_t>{220, 1, 2, 3, 201, 202}));
    EXPECT_EQ(parse_ranges("0-1", 0), (std::vector<std::uint16_t>{0, 1}));
    EXPECT_EQ(parse_ranges("1-65535")->size(), numbers_max);
    for (const char* bad : {"", "0", "1-", "-3", "5-1", "1,,2", "1, 2,", "70000", "a", "65536",
                            "65535-65536", "1-65536", "1-65535, 1", "0-65535"}) {
        EXPECT_FALSE(parse_ranges(bad)) << bad;
    }
    EXPECT_EQ(ranges_text({3, 1, 2, 220, 201, 202}), "1-3, 201-202, 220");
    EXPECT_EQ(ranges_text({}), "");
}

TEST(Units, Numbers) {
    EXPECT_EQ(parse_integer("-12"), -12);
    EXPECT_EQ(parse_integer("9223372036854775808"), std::nullopt);
    EXPECT_EQ(parse_integer("0x10"), std::nullopt);
    EXPECT_EQ(parse_integer("1 "), std::nullopt);
    EXPECT_EQ(parse_number("1e-3"), 0.001);
    EXPECT_EQ(parse_number("inf"), std::nullopt);
    EXPECT_EQ(parse_number("nan"), std::nullopt);
}

TEST(Nearest, FindsWhatWasMeant) {
    const std::vector<std::string> known{"burst_packets", "name", "ports", "pollers", "vlan"};
    EXPECT_EQ(nearest("burst_paket", known), std::vector<std::string>{"burst_packets"});
    EXPECT_EQ(nearest("prots", known), std::vector<std::string>{"ports"});
    EXPECT_EQ(nearest("burst", known), std::vector<std::string>{"burst_packets"});
    EXPECT_TRUE(nearest("zebra", known).empty());
    EXPECT_TRUE(nearest(std::string(1 << 20, 'x'), known).empty());
    EXPECT_EQ(did_you_mean("nmae", known), "; did you mean \"name\"?");
    EXPECT_EQ(edit_distance("abc", "acb"), 1U);
    EXPECT_EQ(edit_distance("", "abc"), 3U);
    EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(Places, FallBackToTheSectionAround) {
    Places places{"f"};
    places.put("ports", 3, 1);
    places.put("ports[0]", 4, 5);
    EXPECT_EQ(places.at("ports[0].pci").text(), "f:4:5");
    EXPECT_EQ(places.at("ports[1].pci").text(), "f:3:1");
    EXPECT_EQ(places.at("lines#3").text(), "f");
    EXPECT_TRUE(places.has("ports[0]"));
    EXPECT_FALSE(places.has("ports[0].pci"));
}

TEST(Places, SoundnessOfWhatIsAroundAndBelow) {
    Places places;
    places.mark_bad("ports[1].pci");
    EXPECT_FALSE(places.sound("ports"));
    EXPECT_FALSE(places.sound("ports[1]"));
    EXPECT_FALSE(places.sound("ports[1].pci"));
    EXPECT_TRUE(places.sound("ports[1].name"));
    EXPECT_TRUE(places.sound("ports[10]"));
    EXPECT_TRUE(places.reached("ports"));
    EXPECT_FALSE(places.reached("ports[1].pci"));
}

}  // namespace
}  // namespace pinstrike
