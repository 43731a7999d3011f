// path: cold
//
// The packets of a recording in the order of their times, merged from the segments of all pollers.
#pragma once

#include "config/problem.h"
#include "feed/recording/segment.h"
#include "feed/recording/segment_file.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace pinstrike::feed {

/// Which packets of a recording are read.
struct PacketRange {
    std::int64_t from_ns = std::numeric_limits<std::int64_t>::min();
    std::int64_t to_ns = std::numeric_limits<std::int64_t>::max();  ///< not included
    std::vector<std::uint16_t> lines;  ///< sorted; none: all, and the packets of no line
    std::optional<Stream> stream;      ///< nullopt: both

    [[nodiscard]] bool selects(const RecordedInterface& from) const;
};

/// Which segments of a recording are opened.
struct SegmentSpan {
    static constexpr std::int64_t never_ns = std::numeric_limits<std::int64_t>::max();

    /// Segments that ended before this wall time are not opened.
    std::int64_t since_ns = std::numeric_limits<std::int64_t>::min();
    /// Segments that began after this wall time are not opened.
    std::int64_t begun_before_ns = never_ns;
};

class RecordedPackets {
  public:
    /// Nothing, with a Problem, if the folder cannot be read, or no segment in it that has a
    /// packet. Other segments that cannot be read are damage.
    [[nodiscard]] static std::optional<RecordedPackets> open(const std::string& folder,
                                                             Problems& problems,
                                                             const SegmentSpan& span = {});

    // Receive times of the earliest and the latest packet of the recording: of the first and the
    // last segment of each poller.

    [[nodiscard]] std::int64_t first_ns() const { return first_ns_; }

    [[nodiscard]] std::int64_t last_ns() const { return last_ns_; }

    void select(PacketRange range);

    /// The next packet of the range, valid until the next call.
    [[nodiscard]] std::optional<RecordedPacket> next();

    /// Where the packet that next() returned came from.
    [[nodiscard]] const RecordedInterface& origin() const {
        return latest_->segments[latest_->segment]
            .file->head()
            .interfaces[latest_->head->interface];
    }

    /// The share of the range before the packet that next() returned, by the times, from 0 to 1.
    [[nodiscard]] double share_read() const;

    // What is missing in the range, so far.

    [[nodiscard]] const std::vector<std::string>& damage() const { return damage_; }

    [[nodiscard]] std::uint64_t not_recorded() const { return not_recorded_; }

  private:
    struct Segment {
        std::string path;
        std::int64_t first_ns = 0;                       ///< the earliest packet
        std::optional<std::vector<ChunkRecord>> chunks;  ///< nothing: not read yet
        std::optional<SegmentFile> file;                 ///< it is read, or among the next ones
    };

    /// The segments of one poller, whose times do not overlap.
    struct Poller {
        std::string name;
        std::vector<Segment> segments;
        std::size_t segment = 0;  ///< the current one
        std::size_t chunk = 0;    ///< the next one in it
        ChunkPackets packets{{}};
        std::optional<RecordedPacket> head;
    };

    void add(SegmentFile file);
    void load(Segment& segment);
    void find_last();
    [[nodiscard]] bool may_have_range(const ChunkRecord& chunk) const;
    [[nodiscard]] bool may_have_range(const Poller& poller, std::size_t index) const;
    void open_next(Poller& poller);
    bool load_current(Poller& poller);
    void report_hole(const Segment& segment, std::size_t chunk);
    void advance(Poller& poller);
    bool next_chunk(Poller& poller);
    bool read_chunk(Poller& poller, SegmentFile& file, const ChunkRecord& chunk);

    std::vector<Poller> pollers_;
    Poller* latest_ = nullptr;  ///< had the packet that next() returned
    PacketRange range_;
    std::int64_t first_ns_ = std::numeric_limits<std::int64_t>::max();
    std::int64_t last_ns_ = std::numeric_limits<std::int64_t>::min();
    std::vector<std::string> damage_;
    std::uint64_t not_recorded_ = 0;
};

}  // namespace pinstrike::feed
