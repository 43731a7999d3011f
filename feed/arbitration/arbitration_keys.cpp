// path: cold
#include "feed/arbitration/arbitration_keys.h"

namespace pinstrike::feed {

Section<ArbitrationConfig> arbitration_section() {
    Section<ArbitrationConfig> section{"arbitration"};
    section
        .key("window", &ArbitrationConfig::window_ns, duration_ns(0, 10'000'000'000),
             "How long blocks after a hole are held so that the other stream can fill it; then the "
             "hole is declared a gap.")
        .reloads()
        .key("hold", &ArbitrationConfig::hold_bytes,
             converted<std::size_t>(bytes64(4096, 1ULL << 30)),
             "Most bytes held for each line in that time; beyond them the hole is declared a gap "
             "at once. The same amount again is kept for blocks that wait for a reset.")
        .key("gap_ranges", &ArbitrationConfig::gap_ranges, integer<std::size_t>(1, 1 << 24),
             "Most open gaps remembered for each line, so that late copies can still fill them.")
        .unit("gaps")
        .key("looped_captures", &ArbitrationConfig::looped_captures, boolean(),
             "Whether the ports may play captures in a loop, whose times repeat. Only for "
             "captures, the generator and DPDK's net_pcap.");
    return section;
}

}  // namespace pinstrike::feed
