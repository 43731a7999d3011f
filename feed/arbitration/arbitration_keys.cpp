// path: cold
#include "feed/arbitration/arbitration_keys.h"

namespace pinstrike::feed {

Section<ArbitrationConfig> arbitration_section() {
    Section<ArbitrationConfig> section{"arbitration"};
    section
        .key("window", &ArbitrationConfig::window_ns, duration_ns(0, 10'000'000'000),
             "How long what follows a hole is held for the other stream to fill it; then the hole "
             "is a gap.")
        .reloads()
        .key("hold", &ArbitrationConfig::hold_bytes,
             converted<std::size_t>(bytes64(4096, 1ULL << 30)),
             "Most bytes held for each line in that time; beyond them the hole is a gap at once. "
             "As much again is kept for blocks that wait for a reset.")
        .key("gap_ranges", &ArbitrationConfig::gap_ranges, integer<std::size_t>(1, 1 << 24),
             "Most open gaps remembered for each line, so that late copies still find them.")
        .unit("gaps")
        .key("looped_captures", &ArbitrationConfig::looped_captures, boolean(),
             "Whether the ports may play captures in a loop, whose times repeat. For captures, the "
             "generator and DPDK's net_pcap alone.");
    return section;
}

}  // namespace pinstrike::feed
