// path: cold
//
// What `pinstrike record` finds in a recording, as tables and as JSON.
#pragma once

#include "feed/recording/segment_file.h"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace pinstrike::command {

/// The numbers of a line in the order in which its packets were recorded.
class LineNumbers {
  public:
    void add(const feed::BlockNumbers& numbers, feed::Stream stream);

    /// Of a block that recovery got from a peer.
    void add_repaired(const feed::BlockNumbers& numbers);

    /// Messages whose numbers no packet has.
    [[nodiscard]] std::uint64_t missing() const;

    [[nodiscard]] std::uint64_t gaps() const { return closed_gaps_ + missing_.size(); }

  private:
    void remove(std::uint64_t first, std::uint64_t last);
    void restart(std::uint64_t first);

    std::uint64_t next_ = 0;                          ///< 0: nothing came yet
    std::map<std::uint64_t, std::uint64_t> missing_;  ///< first and last, since the last restart
    std::uint64_t closed_missing_ = 0;                ///< before it
    std::uint64_t closed_gaps_ = 0;
    int session_ = -1;
    std::uint64_t restarts_ = 0;
    std::array<std::uint64_t, feed::streams_count> stream_restarts_{};
};

struct LineFindings {
    std::array<std::uint64_t, feed::streams_count> packets{};
    std::uint64_t repaired = 0;  ///< blocks
    LineNumbers numbers;         ///< only of `verify`
};

struct SegmentFindings {
    std::string path;
    std::string poller;
    std::string state = "whole";           ///< "whole", "open", "index lost or wrong", "damaged"
    std::uint64_t bytes = 0;               ///< of the file
    std::uint64_t uncompressed_bytes = 0;  ///< the same if it is not compressed
    std::uint64_t chunks = 0;
    std::uint64_t packets = 0;
    std::uint64_t not_recorded = 0;
    std::uint64_t damaged_bytes = 0;
    std::int64_t first_ts_ns = INT64_MAX;
    std::int64_t last_ts_ns = INT64_MIN;
};

/// A snapshot of the books.
struct SnapshotFindings {
    std::string path;
    std::string state = "whole";  ///< or "damaged"
    std::int64_t begin_ns = 0;
    std::uint32_t trade_date = 0;
    std::uint64_t bytes = 0;
    std::uint64_t records = 0;
};

struct RecordingFindings {
    std::vector<SegmentFindings> segments;
    std::vector<SnapshotFindings> snapshots;
    std::map<std::uint16_t, LineFindings> lines;  ///< by number
    std::uint64_t packets_of_no_line = 0;

    /// Adds a segment's chunks.
    void add(SegmentFindings segment, const feed::SegmentIndex& index,
             const std::vector<feed::RecordedInterface>& interfaces);
};

/// One row for each segment, then for each snapshot.
[[nodiscard]] std::string segments_text(const RecordingFindings& findings);

/// The sums, and one row for each line. `numbers`: with the gaps of the lines.
[[nodiscard]] std::string sums_text(const RecordingFindings& findings, bool numbers);

[[nodiscard]] std::string findings_json(const RecordingFindings& findings, bool numbers);

}  // namespace pinstrike::command
