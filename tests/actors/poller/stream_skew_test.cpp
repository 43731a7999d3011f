// path: cold
#include "actors/poller/stream_skew.h"

#include <gtest/gtest.h>

namespace pinstrike::actors {
namespace {

using feed::Stream;

feed::Block block(std::uint32_t sequence, std::int64_t ts_receive_ns) {
    feed::Block out;
    out.sequence = sequence;
    out.ts_receive_ns = ts_receive_ns;
    return out;
}

std::uint64_t samples(const StreamSkew& skew, Stream stream) {
    return skew.of(stream).snapshot().count;
}

TEST(StreamSkew, IsTheTimeBetweenTheTwoCopies) {
    StreamSkew skew;
    skew.first(block(1, 100), Stream::a);
    skew.second(block(1, 900), Stream::b);
    EXPECT_EQ(samples(skew, Stream::a), 1U);
    EXPECT_EQ(samples(skew, Stream::b), 0U);
    EXPECT_EQ(skew.of(Stream::a).snapshot().highest_ns, 800);
}

TEST(StreamSkew, GoesOnWhereTheStreamBehindLostItsCopy) {
    StreamSkew skew;
    skew.first(block(1, 100), Stream::a);
    skew.second(block(2, 900), Stream::b);
    skew.first(block(3, 1000), Stream::a);
    skew.second(block(3, 1100), Stream::b);
    EXPECT_EQ(samples(skew, Stream::a), 1U);
}

TEST(StreamSkew, GoesOnOverTheWrap) {
    StreamSkew skew;
    skew.first(block(0xFFFF'FFFF, 100), Stream::a);
    skew.second(block(1, 900), Stream::b);
    skew.first(block(2, 1000), Stream::a);
    skew.second(block(2, 1100), Stream::b);
    EXPECT_EQ(samples(skew, Stream::a), 1U);
}

TEST(StreamSkew, GoesOnWhereTheStreamAheadLostItsCopy) {
    StreamSkew skew;
    skew.first(block(1, 100), Stream::b);  // A, which is ahead, lost it
    skew.first(block(2, 200), Stream::a);
    skew.second(block(2, 900), Stream::b);
    EXPECT_EQ(samples(skew, Stream::a), 1U);
    EXPECT_EQ(samples(skew, Stream::b), 0U);
}

TEST(StreamSkew, WaitsForAStreamFarBehind) {
    StreamSkew skew;
    skew.first(block(5, 100), Stream::a);
    skew.second(block(3, 200), Stream::b);
    skew.first(block(6, 300), Stream::a);
    skew.second(block(5, 400), Stream::b);
    EXPECT_EQ(samples(skew, Stream::a), 1U);
    EXPECT_EQ(skew.of(Stream::a).snapshot().highest_ns, 300);
}

}  // namespace
}  // namespace pinstrike::actors
