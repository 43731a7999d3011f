// path: cold
#include "nic/packet/address.h"

#include <gtest/gtest.h>

namespace pinstrike::nic {
namespace {

TEST(Address, Texts) {
    EXPECT_EQ(parse_ipv4("224.0.204.1")->value, 0xE000CC01U);
    EXPECT_EQ(text_of(Ipv4{0xE000CC01}), "224.0.204.1");
    for (const char* bad : {"", "1.2.3", "1.2.3.4.5", "1.2.3.256", "01.2.3.4", "1.2.3.-4", "1.2.3.",
                            "a.b.c.d", "1.2.3.4 "}) {
        EXPECT_FALSE(parse_ipv4(bad)) << bad;
    }
    const auto subnet = parse_subnet("162.69.44.0/22");
    ASSERT_TRUE(subnet);
    EXPECT_TRUE(subnet->contains(0xA2452F01));   // 162.69.47.1
    EXPECT_FALSE(subnet->contains(0xA2453001));  // 162.69.48.1
    EXPECT_EQ(text_of(*subnet), "162.69.44.0/22");
    EXPECT_TRUE(parse_subnet("0.0.0.0/0")->contains(12345));
    EXPECT_EQ(parse_subnet("10.0.0.1")->mask, ~0U);
    for (const char* bad : {"10.0.0.1/24", "10.0.0.0/33", "10.0.0.0/", "/24", "10.0.0.0/-1"}) {
        EXPECT_FALSE(parse_subnet(bad)) << bad;
    }
    EXPECT_EQ(parse_group("224.0.204.1:45001")->port, 45001);
    for (const char* bad : {"224.0.204.1", "224.0.204.1:", "224.0.204.1:0", "224.0.204.1:65536"}) {
        EXPECT_FALSE(parse_group(bad)) << bad;
    }
}

}  // namespace
}  // namespace pinstrike::nic
