// path: cold
#include "actors/poller/record_filter.h"

#include "actors/poller/packet_recorder.h"
#include "tests/nic/frames.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pinstrike::actors {
namespace {

using feed::Stream;
using Payload = std::vector<std::byte>;

constexpr std::size_t slots = 1 << 20;  // no two payloads of a test need one slot

Payload payload_of(std::size_t bytes) {
    Payload payload(bytes);
    for (std::size_t i = 0; i < bytes; ++i) {
        payload[i] = static_cast<std::byte>(i * 7 + bytes);
    }
    return payload;
}

/// A packet of the line at this place of a poller; 0: of no line.
struct Sent {
    std::vector<std::byte> frame;
    std::uint32_t interface = interface_of_no_line;
};

Sent sent(std::uint32_t place, Stream stream, const Payload& payload) {
    return {nic::udp_frame(nic::route_of_tests, payload),
            place == 0 ? interface_of_no_line : interface_of(place - 1, stream)};
}

nic::Packet packet_of(const Sent& sent) {
    nic::Packet packet;
    packet.bytes = sent.frame.data();
    packet.length_bytes = static_cast<std::uint32_t>(sent.frame.size());
    return packet;
}

/// Whether the packet was recorded.
bool record(RecordFilter& filter, const Sent& sent) {
    RecordFilter::Mark mark;
    const bool wanted = filter.wants(packet_of(sent), sent.interface, mark);
    if (wanted) {
        filter.note_recorded(mark);
    }
    return wanted;
}

TEST(RecordFilter, wants_all_packets_by_default) {
    RecordFilter filter{line_set({})};
    const Payload payload = payload_of(100);
    for (const std::uint32_t line : std::vector<std::uint32_t>{1, 2, 32767}) {
        EXPECT_TRUE(record(filter, sent(line, Stream::a, payload)));
        EXPECT_TRUE(record(filter, sent(line, Stream::b, payload)));
    }
    EXPECT_TRUE(record(filter, sent(0, Stream::a, {})));
}

TEST(RecordFilter, wants_packets_of_its_lines_and_of_no_line_if_0_is_among_them) {
    const Payload payload = payload_of(100);
    RecordFilter some{line_set({3, 5})};
    EXPECT_FALSE(record(some, sent(4, Stream::a, payload)));
    EXPECT_TRUE(record(some, sent(5, Stream::b, payload)));
    EXPECT_FALSE(record(some, sent(0, Stream::a, {})));
    RecordFilter others{line_set({0, 3})};
    EXPECT_TRUE(record(others, sent(0, Stream::a, {})));
}

TEST(RecordFilter, wants_other_lines_when_they_change) {
    const Payload payload = payload_of(100);
    RecordFilter filter{LineSet{}};
    EXPECT_FALSE(filter.wants_any());
    EXPECT_FALSE(record(filter, sent(3, Stream::a, payload)));
    filter.want(line_set({3, 32767}));
    EXPECT_TRUE(filter.wants_any());
    EXPECT_FALSE(filter.wants_all());
    EXPECT_TRUE(record(filter, sent(3, Stream::a, payload)));
    EXPECT_TRUE(record(filter, sent(32767, Stream::a, payload)));
    EXPECT_FALSE(record(filter, sent(2, Stream::a, payload)));
    filter.want(LineSet{});
    EXPECT_FALSE(record(filter, sent(3, Stream::a, payload)));
    filter.want(line_set({}));
    EXPECT_TRUE(filter.wants_all());
    EXPECT_FALSE((RecordFilter{line_set({}), slots}.wants_all())) << "second copies are not wanted";
}

/// A repaired block is recorded although both streams brought the same payload.
TEST(RecordFilter, wants_all_repaired_blocks_of_its_lines) {
    RecordFilter filter{line_set({2}), slots};
    const Payload payload = payload_of(100);
    Sent repaired = sent(2, Stream::a, payload);
    EXPECT_TRUE(record(filter, repaired));
    EXPECT_FALSE(record(filter, sent(2, Stream::b, payload)));
    repaired.interface = interface_of_repairs(1);
    EXPECT_TRUE(record(filter, repaired));
    EXPECT_TRUE(record(filter, repaired));
    for (const std::uint32_t other : {0U, 2U}) {
        repaired.interface = interface_of_repairs(other);
        EXPECT_FALSE(record(filter, repaired)) << "line at " << other;
    }
}

TEST(RecordFilter, knows_lines_by_their_places) {
    const std::vector<std::uint16_t> numbers{7, 201, 5};
    const LineSet places = places_of(line_set({0, 5, 7, 9}), numbers);
    EXPECT_TRUE(places[0] && places[1] && places[3]);
    EXPECT_EQ(places.count(), 3U);
    EXPECT_TRUE(places_of(line_set({}), numbers).all());  // and lines that are added
    EXPECT_TRUE(places_of(LineSet{}, numbers).none());
}

TEST(RecordFilter, wants_the_first_copy_of_each_payload) {
    RecordFilter filter{line_set({}), slots};
    for (std::size_t bytes = 0; bytes < 200; ++bytes) {
        const Payload payload = payload_of(bytes);
        const Stream first = bytes % 2 == 0 ? Stream::a : Stream::b;
        const Stream second = bytes % 2 == 0 ? Stream::b : Stream::a;
        EXPECT_TRUE(record(filter, sent(1, first, payload))) << bytes;
        EXPECT_TRUE(record(filter, sent(1, first, payload))) << "repeated on its stream";
        EXPECT_TRUE(record(filter, sent(2, second, payload))) << "of another line";
        EXPECT_FALSE(record(filter, sent(1, second, payload))) << bytes;
        EXPECT_TRUE(record(filter, sent(1, second, payload))) << "a third copy";
    }
    EXPECT_TRUE(record(filter, sent(0, Stream::a, {})));
    EXPECT_TRUE(record(filter, sent(0, Stream::a, {})));
}

TEST(RecordFilter, takes_no_packet_with_another_byte_for_a_copy) {
    for (const std::size_t bytes : {1U, 31U, 32U, 33U, 150U}) {
        RecordFilter filter{line_set({}), slots};
        const Payload payload = payload_of(bytes);
        EXPECT_TRUE(record(filter, sent(1, Stream::a, payload)));
        for (std::size_t i = 0; i < bytes; ++i) {
            Payload other = payload;
            other[i] ^= std::byte{1};
            EXPECT_TRUE(record(filter, sent(1, Stream::b, other))) << i << " of " << bytes;
        }
        Payload longer = payload;
        longer.push_back(std::byte{0});
        EXPECT_TRUE(record(filter, sent(1, Stream::b, longer)));
        EXPECT_FALSE(record(filter, sent(1, Stream::b, payload)));
    }
}

TEST(RecordFilter, wants_the_second_copy_if_the_first_could_not_be_recorded) {
    RecordFilter filter{line_set({}), slots};
    const Payload payload = payload_of(50);
    const Sent first = sent(1, Stream::a, payload);
    RecordFilter::Mark mark;
    EXPECT_TRUE(filter.wants(packet_of(first), first.interface, mark));
    EXPECT_TRUE(record(filter, sent(1, Stream::b, payload)));
    EXPECT_FALSE(record(filter, sent(1, Stream::a, payload)));
}

}  // namespace
}  // namespace pinstrike::actors
