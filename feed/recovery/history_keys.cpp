// path: cold
#include "feed/recovery/history_keys.h"

#include "config/time_units.h"

namespace pinstrike::feed {

Section<HistoryConfig> history_section() {
    Section<HistoryConfig> section{"history"};
    section
        .key("keep", &HistoryConfig::keep_ns, duration_ns(second_ns / 10, 3600 * second_ns),
             "How long a block is kept for peers.")
        .key("memory", &HistoryConfig::memory_bytes,
             converted<std::size_t>(bytes64(1 << 20, 1ULL << 40)),
             "Memory for the blocks of all lines, allocated at the start. If it is too small for "
             "`keep`, the oldest are removed first; 10 s of 1 Gb/s take 1.4 GiB.")
        .required();
    return section;
}

}  // namespace pinstrike::feed
