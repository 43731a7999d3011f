// path: cold
#include "actors/publish/publish_keys.h"

namespace pinstrike::actors {

Section<PublishConfig> publish_section() {
    constexpr std::size_t records_max = std::size_t{1} << 28;
    Section<PublishConfig> section{"publish"};
    section
        .key(
            "memory", &PublishConfig::memory,
            choice<PublishMemory>(
                {{"off", PublishMemory::off, "private memory: nothing is published"},
                 {"shm", PublishMemory::shm,
                  "a file in /dev/shm; on huge pages only if its mount has the option huge=advise"},
                 {"hugetlbfs", PublishMemory::hugetlbfs,
                  "a file in the mounted hugetlbfs, on huge pages that the host reserves"}}),
            "Where the book keeps the state of the series, so that other programs can read it.")
        .key("stream", &PublishConfig::stream,
             choice<bool>({{"on", true, "every event of each core as well"},
                           {"off", false, "only the state of the series"}}),
             "Whether other programs can read the events too.")
        .key("stream_records", &PublishConfig::stream_records, power_of_two(1024, records_max),
             "Records of 64 bytes in each core's stream. A reader that falls further behind misses "
             "records, and learns which.")
        .unit("records");
    return section;
}

}  // namespace pinstrike::actors
