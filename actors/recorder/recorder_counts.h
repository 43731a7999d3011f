// path: cold
#pragma once

#include "config/counter.h"
#include "config/rows.h"

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
    ROW(compressed_from, bytes, "Bytes of these segments before") \
    ROW(compressed_to, bytes, "Bytes of these segments after it") \
    ROW(compress_failures, failures, "Segments that could not be compressed; tried again later")
// clang-format on

PINSTRIKE_ROWS(RecorderCount, PINSTRIKE_RECORDER_COUNTS)

/// The recorder's thread writes these, and the compressor's thread those of compression.
struct RecorderCounters : Counters<RecorderCount, RecorderCount_count> {
    Counter error;             ///< errno of the failure that keeps it from writing; 0: it writes
    Counter longest_write_ns;  ///< from the hand-over of a chunk to its end
    Counter longest_pause_ns;  ///< between two steps of the thread
};

}  // namespace pinstrike::actors
