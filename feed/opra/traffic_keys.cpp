// path: cold
#include "feed/opra/traffic_keys.h"

namespace pinstrike::feed::opra {

namespace {

constexpr std::int64_t count_max = 1'000'000'000'000;

Section<StreamFaults> faults_section() {
    Section<StreamFaults> section{"a stream's faults"};
    section.key("loss", &StreamFaults::loss, number(0, 1), "Share of packets that are lost.")
        .key("duplicate", &StreamFaults::duplicate, number(0, 1),
             "Share of packets that come twice.")
        .key("reorder", &StreamFaults::reorder, number(0, 1),
             "Share of packets that come after their successor.")
        .key("corrupt", &StreamFaults::corrupt, number(0, 1),
             "Share of packets with a damaged byte.")
        .key("skew", &StreamFaults::skew_ns, duration_ns(0, 10'000'000'000),
             "How much later than the other stream it comes.");
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
             "How many messages come in a packet.")
        .key("lines_count", &TrafficConfig::lines_count, integer<std::size_t>(1, 65535),
             "Traffic goes to the first so many of the feed's lines, or to all if it has fewer.")
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
        .key("rate_messages_per_second", &TrafficConfig::rate_messages_per_second, number(1, 1e10),
             "Messages a second, over all lines, on each stream.")
        .unit("messages/s")
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
