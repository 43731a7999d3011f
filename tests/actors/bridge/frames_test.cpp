// path: cold
#include "actors/bridge/frames.h"

#include "tests/actors/book/events.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>

namespace pinstrike::actors::bridge::test {
namespace {

using actors::test::Events;
using actors::test::key_of;

constexpr feed::Numbering numbering;  // of 32 bits

/// Passes what one side would send to the other side's reader.
void pass(FrameWriter& from, FrameReader& to) {
    const auto bytes = from.waiting();
    const auto space = to.space();
    ASSERT_LE(bytes.size(), space.size());
    std::memcpy(space.data(), bytes.data(), bytes.size());
    to.received(bytes.size());
    from.sent(bytes.size());
}

TEST(BridgeFrames, EventsLieAlignedInTheReceiversBuffer) {
    Events events;
    events.quote(key_of("SPX"), 1, 7);
    events.quote(key_of("SPX"), 1, 8);
    FrameWriter writer;
    ASSERT_TRUE(writer.put_text(FrameType::ended, "the feed has ended"));
    FrameHeader header;
    header.type = FrameType::events;
    header.count = 2;
    header.position = 99;
    ASSERT_TRUE(writer.put(header, std::as_bytes(events.batch().records())));
    FrameReader reader;
    pass(writer, reader);
    Frame frame;
    ASSERT_EQ(reader.next(frame), FrameReader::Result::frame);
    EXPECT_EQ(frame.text(), "the feed has ended");
    ASSERT_EQ(reader.next(frame), FrameReader::Result::frame);
    EXPECT_EQ(frame.header.position, 99U);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(frame.body.data()) % 64, 0U);
    EXPECT_EQ(frame.at<feed::Event>(1).header.sequence, 8U);
    EXPECT_TRUE(frame.has<feed::Event>(2));
    EXPECT_FALSE(frame.has<feed::Event>(1));
    EXPECT_FALSE(frame.has<feed::Event>(3));
    EXPECT_EQ(reader.next(frame), FrameReader::Result::incomplete);
    EXPECT_EQ(reader.taken(), writer.queued());
}

TEST(BridgeFrames, AFrameInPiecesIsCompleteWithItsLastByte) {
    FrameWriter writer;
    ASSERT_TRUE(writer.put_text(FrameType::bye, "x"));
    FrameReader reader;
    Frame frame;
    const auto bytes = writer.waiting();
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        EXPECT_EQ(reader.next(frame), FrameReader::Result::incomplete) << i;
        reader.space()[0] = bytes[i];
        reader.received(1);
    }
    EXPECT_EQ(reader.next(frame), FrameReader::Result::frame);
}

TEST(BridgeFrames, AWrongHeaderIsRefusedBeforeItsBody) {
    const auto result_of = [](const FrameHeader& header) {
        FrameReader reader;
        std::memcpy(reader.space().data(), &header, sizeof header);
        reader.received(sizeof header);
        Frame frame;
        return reader.next(frame);
    };
    FrameHeader header;
    EXPECT_EQ(result_of(header), FrameReader::Result::frame);
    header.body_bytes = body_bytes_max + 64;
    EXPECT_EQ(result_of(header), FrameReader::Result::malformed);
    header.body_bytes = 63;
    EXPECT_EQ(result_of(header), FrameReader::Result::malformed);
    header = {};
    header.magic = 0;
    EXPECT_EQ(result_of(header), FrameReader::Result::malformed);
    header = {};
    header.type = FrameType{0};
    EXPECT_EQ(result_of(header), FrameReader::Result::malformed);
    header = {};
    header.version = 2;
    EXPECT_EQ(result_of(header), FrameReader::Result::wrong_version);
}

TEST(BridgeFrames, TheBufferTakesNoMoreThanItHolds) {
    FrameWriter writer;
    FrameHeader header;
    std::size_t frames = 0;
    while (writer.put(header)) {
        ++frames;
    }
    EXPECT_EQ(frames, buffer_bytes / sizeof header);
    writer.sent(writer.waiting().size());
    EXPECT_TRUE(writer.put(header));
    EXPECT_EQ(writer.queued(), buffer_bytes + sizeof header);
}

TEST(BridgeFrames, ATextFromTheNetworkIsPrintable) {
    FrameWriter writer;
    ASSERT_TRUE(writer.put_text(FrameType::refused, "a\x1b[2Jb"));
    FrameReader reader;
    pass(writer, reader);
    Frame frame;
    ASSERT_EQ(reader.next(frame), FrameReader::Result::frame);
    EXPECT_EQ(frame.text(), "a?[2Jb");
}

TEST(BridgeFrames, OnlyPossibleEventsAreTaken) {
    Events events;
    events.quote(key_of("SPX"), 1, 7);
    feed::Event event = events.batch().records().front();
    EXPECT_TRUE(is_possible(event, 1, numbering));
    const auto changed = [&event](auto&& change) {
        feed::Event wrong = event;
        change(wrong);
        return is_possible(wrong, 1, numbering);
    };
    EXPECT_FALSE(changed([](feed::Event& wrong) { wrong.header.records = 0; }));
    EXPECT_FALSE(changed([](feed::Event& wrong) { wrong.header.records = 2; }));
    EXPECT_FALSE(changed([](feed::Event& wrong) { wrong.header.kind = feed::EventKind{23}; }));
    EXPECT_FALSE(changed([](feed::Event& wrong) { wrong.header.code = 'Z'; }));
    EXPECT_FALSE(changed([](feed::Event& wrong) { wrong.header.ts_receive_ns = -1; }));
    EXPECT_FALSE(changed([](feed::Event& wrong) { wrong.body.series.name = 0; }));
    EXPECT_FALSE(changed([](feed::Event& wrong) {
        wrong.header.kind = feed::EventKind::end_of_day;
    })) << "it has two records";
    EXPECT_FALSE(changed([](feed::Event& wrong) {
        wrong.header.kind = feed::EventKind::text;
        wrong.body.text.length_bytes = 31;
    }));
    EXPECT_FALSE(changed([](feed::Event& wrong) {
        wrong.header.kind = feed::EventKind::gap;
        wrong.body.gap.cause = feed::GapCause{5};
    }));
    EXPECT_FALSE(changed([](feed::Event& wrong) {
        wrong.header.kind = feed::EventKind::series_map;
        wrong.body.series_map.id = PINSTRIKE_INDEX + 1;
    })) << "no series has so high an id";
}

TEST(BridgeFrames, OnlyPossibleGapsAreTaken) {
    feed::Numbering venue = numbering;
    const auto is_taken = [&venue](std::uint64_t first, std::uint64_t last) {
        Events events;
        events.gap(1, 1, 1);
        feed::Event event = events.batch().records().front();
        event.body.gap.first = first;
        event.body.gap.last = last;
        return is_possible(event, 1, venue);
    };
    EXPECT_TRUE(is_taken(3, 3));
    EXPECT_TRUE(is_taken(1, 3'000'000'000));
    EXPECT_TRUE(is_taken(0xFFFF'FFF0, 5)) << "over the wrap";
    EXPECT_TRUE(is_taken(0, 0)) << "messages without numbers";
    EXPECT_FALSE(is_taken(5, 4));
    EXPECT_FALSE(is_taken(0, 4));
    EXPECT_FALSE(is_taken(4, 0));
    EXPECT_FALSE(is_taken(4, 0x1'0000'0000)) << "no number of the venue";
    venue.last = feed::number_max;
    EXPECT_TRUE(is_taken(4, 0x1'0000'0000));
    EXPECT_TRUE(is_taken(feed::number_max, 5)) << "over the wrap";
    EXPECT_FALSE(is_taken(0xFFFF'FFF0, 5)) << "no wrap of this venue";
}

TEST(BridgeFrames, OnlyNumbersOfTheVenueAreTaken) {
    Events events;
    events.quote(key_of("SPX"), 1, 0x1'0000'0000);
    const feed::Event& event = events.batch().records().front();
    EXPECT_FALSE(is_possible(event, 1, numbering));
    EXPECT_TRUE(is_possible(event, 1, {.last = feed::number_max}));
}

/// A feed takes them as the venue sends them, so a bridge that refused them would break whenever
/// they come.
TEST(BridgeFrames, WhatAFeedTakesIsPossible) {
    const feed::SeriesKey blank = key_of(" AB");
    const feed::SeriesKey unprintable = key_of("A\x01");
    const feed::SeriesKey negative = key_of("SPX", 'A', 16, 27, -100'000'000);
    for (const feed::SeriesKey& key : {blank, unprintable, negative}) {
        Events events;
        events.quote(key, 1, 7, {.participant = '\x02'});
        EXPECT_TRUE(is_possible(events.batch().records().front(), 1, numbering));
        SeriesBody series{};
        series.entry.name = key.name;
        series.entry.strike_e8 = key.strike_e8;
        series.entry.quotes = 1;
        series.entry.bid.said =
            2U | std::uint32_t{'B'} << 8 | (PINSTRIKE_KNOWN | PINSTRIKE_PRESENT) << 16;
        series.entry.record = PINSTRIKE_TRADES;
        series.trades.flags = PINSTRIKE_HAS_LAST;
        series.trades.last_code = 'B';
        series.trades.last_type = '\x03';
        EXPECT_TRUE(is_possible(series));
    }
}

TEST(BridgeFrames, OnlyPossibleLinesAreTaken) {
    LineBody line{};
    line.version = 65'535;
    line.changed = line.gap = 5 * PINSTRIKE_STAMP_PLACE;
    EXPECT_TRUE(is_possible(line));
    for (const auto stamp : {&LineBody::changed, &LineBody::day, &LineBody::flush,
                             &LineBody::late_flush, &LineBody::gap}) {
        LineBody wrong = line;
        wrong.*stamp |= PINSTRIKE_STAMP_WRITING;
        EXPECT_FALSE(is_possible(wrong));
    }
    line.version = 65'536;
    EXPECT_FALSE(is_possible(line));
}

TEST(BridgeFrames, OnlyPossibleStatesAreTaken) {
    SeriesBody series{};
    const feed::SeriesKey key = key_of("SPX");
    series.entry.name = key.name;
    series.entry.strike_e8 = key.strike_e8;
    EXPECT_TRUE(is_possible(series)) << "an announced series";
    series.entry.bid.value = 5;
    series.entry.bid.said = std::uint32_t{'C'} | std::uint32_t{'B'} << 8 |
                            (PINSTRIKE_KNOWN | PINSTRIKE_PRESENT | PINSTRIKE_LATE) << 16;
    EXPECT_TRUE(is_possible(series));
    SeriesBody wrong = series;
    wrong.entry.name = 0;
    EXPECT_FALSE(is_possible(wrong));
    wrong = series;
    wrong.entry.bid.said |= 0x80U << 16;
    EXPECT_FALSE(is_possible(wrong)) << "a mark that does not exist";
    wrong = series;
    wrong.entry.stamp = PINSTRIKE_STAMP_WRITING;
    EXPECT_FALSE(is_possible(wrong)) << "the mark of a write would never go away";
    wrong = series;
    wrong.entry.record = PINSTRIKE_TRADES;
    wrong.trades.flags = PINSTRIKE_HAS_LAST;
    wrong.trades.last_code = 'Z';
    EXPECT_FALSE(is_possible(wrong));
}

}  // namespace
}  // namespace pinstrike::actors::bridge::test
