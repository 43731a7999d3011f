// path: cold
#pragma once

#include "config/counter.h"
#include "config/rows.h"

#include <cerrno>

namespace pinstrike::actors {

// clang-format off
#define PINSTRIKE_RECORDER_COUNTS(ROW) \
    ROW(written, packets, "Packets written to the disk") \
    ROW(unwritten, packets, \
        "Packets that were still in memory when the recorder ended because the disk failed") \
    ROW(bytes, bytes, "Bytes written to the disk") \
    ROW(segments, segments, "Segments begun") \
    ROW(removed, segments, "Segments removed because they were beyond the limits of the config") \
    ROW(failures, failures, "Writes that failed, and segments that could not be begun") \
    ROW(compressed, segments, "Segments compressed") \
    ROW(compressed_from, bytes, "Bytes of the compressed segments, before their compression") \
    ROW(compressed_to, bytes, "Bytes of the compressed segments, after their compression") \
    ROW(compress_failures, failures, "Segments that could not be compressed; tried again later") \
    ROW(snapshots, snapshots, "Snapshots of the books written to the disk") \
    ROW(snapshots_failed, snapshots, "Snapshots that could not be written")
// clang-format on

PINSTRIKE_ROWS(RecorderCount, PINSTRIKE_RECORDER_COUNTS)

// clang-format off
#define PINSTRIKE_MISSING_REASONS(ROW) \
    ROW(disk_full, packets, "the disk is full") \
    ROW(disk_failed, packets, "the disk is gone or refuses") \
    ROW(disk_slow, packets, "the disk is too slow") \
    ROW(thread_starved, packets, "the recorder's thread got no processor time")
// clang-format on

/// Why packets find the recorder's memory full.
PINSTRIKE_ROWS(MissingReason, PINSTRIKE_MISSING_REASONS)

/// Whether an errno says that the disk is full.
constexpr bool is_full(int error) {
    return error == ENOSPC || error == EDQUOT;
}

/// The recorder's thread writes these, and the compressor's thread those of compression.
struct RecorderCounters : Counters<RecorderCount, RecorderCount_count> {
    Counters<MissingReason, MissingReason_count> missing;  ///< packets that were not recorded
    Counter error;             ///< errno of the failure that keeps it from writing; 0: it writes
    Counter longest_write_ns;  ///< from the hand-over of a chunk to its end
    Counter longest_pause_ns;  ///< between two steps of the thread
    // Of the latest snapshot that is on disk, and of the latest that was tried.
    Counter snapshot_ns;      ///< wall time at which it began; 0: there is none yet
    Counter snapshot_series;  ///< states of series in it
    Counter snapshot_error;   ///< errno of its failure; 0: it is on disk
};

}  // namespace pinstrike::actors
