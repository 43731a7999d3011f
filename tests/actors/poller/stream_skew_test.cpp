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

std::uint64_t samples(const StreamLead& lead, Stream stream) {
    return lead.of(stream).snapshot().count;
}

TEST(StreamLead, IsTheTimeBetweenTheTwoCopies) {
    StreamLead lead;
    lead.first(block(1, 100), Stream::a);
    lead.second(block(1, 900), Stream::b);
    EXPECT_EQ(samples(lead, Stream::a), 1U);
    EXPECT_EQ(samples(lead, Stream::b), 0U);
    EXPECT_EQ(lead.of(Stream::a).snapshot().highest_ns, 800);
}

TEST(StreamLead, GoesOnWhereTheStreamBehindLostItsCopy) {
    StreamLead lead;
    lead.first(block(1, 100), Stream::a);
    lead.second(block(2, 900), Stream::b);
    lead.first(block(3, 1000), Stream::a);
    lead.second(block(3, 1100), Stream::b);
    EXPECT_EQ(samples(lead, Stream::a), 1U);
}

TEST(StreamLead, GoesOnOverTheWrap) {
    StreamLead lead;
    lead.first(block(0xFFFF'FFFF, 100), Stream::a);
    lead.second(block(1, 900), Stream::b);
    lead.first(block(2, 1000), Stream::a);
    lead.second(block(2, 1100), Stream::b);
    EXPECT_EQ(samples(lead, Stream::a), 1U);
}

TEST(StreamLead, GoesOnWhereTheStreamAheadLostItsCopy) {
    StreamLead lead;
    lead.first(block(1, 100), Stream::b);  // A, which is ahead, never brings it
    lead.first(block(2, 200), Stream::a);
    lead.second(block(2, 900), Stream::b);
    EXPECT_EQ(samples(lead, Stream::a), 1U);
    EXPECT_EQ(samples(lead, Stream::b), 0U);
}

TEST(StreamLead, WaitsForAStreamFarBehind) {
    StreamLead lead;
    lead.first(block(5, 100), Stream::a);
    lead.second(block(3, 200), Stream::b);
    lead.first(block(6, 300), Stream::a);
    lead.second(block(5, 400), Stream::b);
    EXPECT_EQ(samples(lead, Stream::a), 1U);
    EXPECT_EQ(lead.of(Stream::a).snapshot().highest_ns, 300);
}

}  // namespace
}  // namespace pinstrike::actors
