// path: cold
#include "feed/opra/traffic/traffic_keys.h"

#include "feed/event/limits.h"

namespace pinstrike::feed::opra {

namespace {

constexpr std::int64_t count_max = 1'000'000'000'000;

Section<StreamFaults> faults_section() {
    Section<StreamFaults> section{"a stream's faults"};
    section.key("loss", &StreamFaults::loss, number(0, 1), "Share of packets that are lost.")
        .key("duplicate", &StreamFaults::duplicate, number(0, 1),
             "Share of packets that are sent twice.")
        .key("reorder", &StreamFaults::reorder, number(0, 1),
             "Share of packets that are delayed, so that later ones overtake them.")
        .key("reorder_by", &StreamFaults::reorder_ns, duration_ns(1, 1'000'000'000),
             "Longest delay of such a packet.")
        .key("corrupt", &StreamFaults::corrupt, number(0, 1),
             "Share of packets with a damaged byte.")
        .key("skew", &StreamFaults::skew_ns, duration_ns(0, 10'000'000'000),
             "Delay of this stream behind the other.");
    return section;
}

}  // namespace

Section<TrafficConfig> traffic_section() {
    Section<TrafficConfig> section{"generated traffic"};
    section
        .key("seed", &TrafficConfig::seed,
             integer<std::uint64_t>(0, std::numeric_limits<std::int64_t>::max()),
             "The same seed makes the same bytes.")
        .key("shape", &TrafficConfig::shape,
             choice<PacketShape>(
                 {{"full", PacketShape::full, "blocks filled to 1000 bytes, as in bursts"},
                  {"ordinary", PacketShape::ordinary, "2.26 messages a packet on average"},
                  {"blend", PacketShape::blend, "bursts amid ordinary traffic"}}),
             "Number of messages in a packet.")
        .key("lines_count", &TrafficConfig::lines_count, integer<std::size_t>(1, line_number_max),
             "Number of lines with traffic, from the feed's first line on; all if it has fewer.")
        .unit("lines")
        .key("roots_count", &TrafficConfig::roots_count, integer<std::size_t>(1, 100'000),
             "Underlyings with options.")
        .unit("underlyings")
        .key("series_count", &TrafficConfig::series_count, integer<std::size_t>(1, 10'000'000),
             "Option series, over all underlyings.")
        .unit("series")
        .key("messages_count", &TrafficConfig::messages_count, integer<std::uint64_t>(1, count_max),
             "Messages of a generated capture or loop, on each stream.")
        .unit("messages")
        .key("maps_count", &TrafficConfig::maps_count, integer<std::uint64_t>(0, count_max),
             "Series maps at the start of day; 0: one for every hundred messages.")
        .unit("messages")
        .key("rate_messages_per_second", &TrafficConfig::rate_messages_per_second, number(1, 1e10),
             "Messages a second, over all lines, on each stream; from 1e9 on a sim port delivers "
             "as many as are read.")
        .unit("messages/s")
        .key("burst_factor", &TrafficConfig::burst_factor, number(1, 1000),
             "With shape blend: the rate in bursts over the rate between them.")
        .key("burst_share", &TrafficConfig::burst_share, number(0, 0.9),
             "With shape blend: share of the time that bursts take.")
        .key("test_symbols", &TrafficConfig::test_symbols, number(0, 1),
             "Share of quotes in reserved test symbols.")
        .key("first_sequence", &TrafficConfig::first_sequence,
             integer<std::uint32_t>(1, std::numeric_limits<std::uint32_t>::max()),
             "Number of each line's first data message: near 4294967295, the numbers wrap soon.")
        .key("mix", &TrafficConfig::mix, number(0, 1),
             "0: plain short quotes alone; 1: the realistic mix of messages.")
        .key("session", &TrafficConfig::session, boolean(),
             "Begin with start of day, series maps and open interest, end with summaries and end "
             "of day.")
        .key("a", &TrafficConfig::a, section_form(faults_section()), "Faults of stream A.")
        .key("b", &TrafficConfig::b, section_form(faults_section()), "Faults of stream B.");
    return section;
}

}  // namespace pinstrike::feed::opra
