// path: cold
//
// The packets of a recording in the order of their times, merged from the segments of all pollers.
#pragma once

#include "config/problem.h"
#include "feed/recording/segment.h"
#include "feed/recording/segment_file.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <utility>
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

/// The packets of one poller, as a reader of a recording meets them.
struct PollerPackets {
    std::string name;
    const ReadHead* segment = nullptr;   ///< of which the present chunk is
    ChunkPackets packets{{}};            ///< of that chunk
    std::optional<RecordedPacket> head;  ///< the next packet of the range

    /// Where `head` came from.
    [[nodiscard]] const RecordedInterface& origin() const {
        return segment->interfaces[head->interface];
    }
};

/// What the readers of recordings share: the packets of a range in a chunk, and what is missing.
class RangeReader {
  public:
    // What is missing in the range, so far.

    [[nodiscard]] const std::vector<std::string>& damage() const { return damage_; }

    [[nodiscard]] std::uint64_t not_recorded() const { return not_recorded_; }

    /// A sentence about packets that were not recorded; empty: none are known.
    [[nodiscard]] std::vector<std::string> missing() const;

  protected:
    explicit RangeReader(PacketRange range = {}) : range_(std::move(range)) {}

    /// The poller of this name, which is added if it is not there.
    template <class Poller>
    static Poller& poller_named(std::deque<Poller>& pollers, const std::string& name) {
        const auto found = std::ranges::find(pollers, name, &Poller::name);
        if (found != pollers.end()) {
            return *found;
        }
        Poller& added = pollers.emplace_back();
        added.name = name;
        return added;
    }

    /// The poller whose next packet is the earliest; null: none has one.
    template <class Poller>
    static Poller* earliest_of(std::deque<Poller>& pollers) {
        Poller* earliest = nullptr;
        for (Poller& poller : pollers) {
            if (poller.head && (!earliest || poller.head->ts_ns < earliest->head->ts_ns)) {
                earliest = &poller;
            }
        }
        return earliest;
    }

    /// Makes the poller's next packet of the range its head. False: the chunk has none.
    [[nodiscard]] bool advance_in_chunk(PollerPackets& poller) const;
    /// Makes a chunk the present one. False: it is damaged.
    [[nodiscard]] bool read_chunk(PollerPackets& poller, SegmentFile& file,
                                  const ChunkRecord& chunk);
    /// Finds the chunks of a segment whose index is lost, wrong or not finished, behind those that
    /// are known. `path` is for damage behind the last chunk; other damage is a hole between two.
    [[nodiscard]] SegmentScan scan(const std::string& path, SegmentFile file, SegmentIndex known);
    void add_damage(const std::string& path, const DamagedBytes& damage);

    PacketRange range_;
    std::vector<std::string> damage_;
    std::uint64_t not_recorded_ = 0;
};

class RecordedPackets : public RangeReader {
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
    [[nodiscard]] const RecordedInterface& origin() const { return latest_->origin(); }

    /// The share of the range before the packet that next() returned, by the times, from 0 to 1.
    [[nodiscard]] double share_read() const;

  private:
    struct Segment {
        std::string path;
        std::int64_t first_ns = 0;                       ///< the earliest packet
        std::optional<std::vector<ChunkRecord>> chunks;  ///< nothing: not read yet
        std::optional<SegmentFile> file;                 ///< it is read, or among the next ones
    };

    /// The segments of one poller, whose times do not overlap.
    struct Poller : PollerPackets {
        std::vector<Segment> segments;
        std::size_t current = 0;  ///< segment
        std::size_t chunk = 0;    ///< the next one in it
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

    std::deque<Poller> pollers_;
    Poller* latest_ = nullptr;  ///< had the packet that next() returned
    std::int64_t first_ns_ = std::numeric_limits<std::int64_t>::max();
    std::int64_t last_ns_ = std::numeric_limits<std::int64_t>::min();
};

}  // namespace pinstrike::feed
