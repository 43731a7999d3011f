// path: cold
#include "feed/opra/lines.h"
#include "feed/venue_codecs.h"

#include <gtest/gtest.h>

namespace pinstrike::feed {
namespace {

TEST(Venues, AreFoundByName) {
    Venue found = Venue::none;
    const auto note = [&found]<class Codec>() { found = Codec::venue; };
    EXPECT_FALSE(with_venue("none", note));
    EXPECT_EQ(found, Venue::none);
    EXPECT_TRUE(with_venue("opra", note));
    EXPECT_EQ(found, Venue::opra);
    EXPECT_EQ(static_cast<int>(Venue::opra), 1);
}

TEST(Venues, KnowTheirLinesOfASeparateSession) {
    for (const std::uint16_t line : opra::published_lines()) {
        EXPECT_EQ(opra::Codec::is_gth(line), line >= 201 && line <= 204) << line;
    }
}

}  // namespace
}  // namespace pinstrike::feed
