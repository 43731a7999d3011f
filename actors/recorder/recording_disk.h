// path: cold
//
// The disk of a recording, for `pinstrike check` and `pinstrike doctor`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace pinstrike::actors {

struct RecordingDisk {
    std::string folder;       ///< that of the recording, or if it does not exist yet, one above it
    std::string file_system;  ///< "ext4"; for one without a known name its number
    std::uint64_t free_bytes = 0;  ///< available to a user without rights
    std::uint64_t total_bytes = 0;
    std::uint64_t recorded_bytes = 0;  ///< of the segments that are there
    bool in_memory = false;            ///< a tmpfs
    std::string write_cache{};         ///< as write_cache_of()
};

/// The cache of a block device, as its queue states it: "write back" is one that a power failure
/// empties. Empty: the kernel states none. `device`: st_dev of a file on it.
[[nodiscard]] std::string write_cache_of(std::uint64_t device, const std::string& sys = "/sys");

/// Nothing if the folder cannot be examined.
[[nodiscard]] std::optional<RecordingDisk> find_recording_disk(const std::string& folder);

struct MeasuredWrites {
    bool direct = false;          ///< the file system takes O_DIRECT
    std::uint64_t bytes = 0;      ///< that were written
    double bytes_per_second = 0;  ///< 0: not measured
    std::string obstacle;         ///< why not
};

/// Measures how fast the disk takes writes of the recorder's size, one at a time. It writes at most
/// `bytes_max`, for at most some seconds, to a file without a name, which vanishes with the
/// measurement. It does not write while an instance records in this folder, nor if less than
/// `spare_bytes` would be free.
[[nodiscard]] MeasuredWrites measure_writes(const RecordingDisk& disk, std::uint64_t bytes_max,
                                            std::uint64_t spare_bytes);

}  // namespace pinstrike::actors
