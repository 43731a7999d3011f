// path: cold
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pinstrike::actors {

/// The group pinstrike-data reads what is recorded.
inline constexpr mode_t recording_file_mode = S_IRUSR | S_IWUSR | S_IRGRP;

/// Which copies of a packet are recorded.
enum class RecordedStreams : std::uint8_t { both, first };

/// What a feed records on disk.
struct RecordConfig {
    bool on = false;     ///< the section is present
    std::string folder;  ///< empty: the usual one
    RecordedStreams streams = RecordedStreams::both;
    bool on_demand = false;            ///< only while `ctl record start` asks for it
    std::vector<std::uint16_t> lines;  ///< 0: packets of no line; none: all packets
    std::size_t segment_bytes = std::size_t{1} << 30;
    std::size_t memory_bytes = 64 << 20;  ///< chunks of each poller
    // The oldest segments are removed beyond these limits.
    std::int64_t keep_ns = 0;            ///< 0: no limit
    std::uint64_t keep_bytes = 0;        ///< of all segments; 0: no limit
    std::uint64_t free_bytes = 1 << 30;  ///< that the disk has free
    int compress_level = 0;              ///< of zstd, for closed segments; 0: not compressed
    unsigned compress_cpu_percent = 50;  ///< of one processor
    /// Time from the start of a snapshot of the books to the start of the next; 0: none is written.
    std::int64_t snapshot_interval_ns = 60'000'000'000;
    bool recover = true;  ///< at the start, the books take what was recorded before

    /// The folder for a feed of this name.
    [[nodiscard]] std::string folder_of(const std::string& feed) const {
        return folder.empty() ? "/var/lib/pinstrike/" + feed + "/record" : folder;
    }

    /// Memory of each poller for the fingerprints of first copies.
    [[nodiscard]] std::size_t copies_bytes() const {
        return streams == RecordedStreams::first ? 256 << 10 : 0;
    }

    friend bool operator==(const RecordConfig&, const RecordConfig&) = default;
};

}  // namespace pinstrike::actors
