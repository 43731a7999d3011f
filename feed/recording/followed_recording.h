// path: cold
//
// The packets of a recording that a recorder goes on with, in the order of their times. A chunk
// reaches the disk about a second after its first packet, so the packets of one poller may be there
// before earlier ones of another. They wait for `lag_ns`. What comes later than that is returned
// behind its time; within each poller, and so on each line, the order is always that of the
// recording.
#pragma once

#include "config/problem.h"
#include "feed/recording/recorded_packets.h"
#include "feed/recording/segment.h"
#include "feed/recording/segment_file.h"
#include "feed/recording/segment_index.h"
#include "nic/capture/frame_stream.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace pinstrike::feed {

class FollowedRecording : public RangeReader {
  public:
    /// A recorder hands over a chunk after a second, and then writes it.
    static constexpr std::int64_t lag_ns = 1'500'000'000;

    /// Packets of these lines and of this range of time.
    FollowedRecording(std::string folder, PacketRange range)
        : RangeReader(std::move(range)), folder_(std::move(folder)) {}

    /// Reads what was written since the last call. False, with a Problem: the folder cannot be
    /// read.
    [[nodiscard]] bool look(Problems& problems);

    /// The next packet, valid until the next call. Nothing: none is to be returned at the wall time
    /// `now_ns`.
    [[nodiscard]] std::optional<RecordedPacket> next(std::int64_t now_ns);

    /// Whether a chunk of the range was there when look() was called.
    [[nodiscard]] bool has_packets() const {
        return std::ranges::any_of(pollers_,
                                   [](const Poller& poller) { return poller.head.has_value(); });
    }

    /// After next() returned nothing: the packets before this time were returned.
    [[nodiscard]] std::int64_t complete_ns() const { return complete_ns_; }

    [[nodiscard]] const std::string& folder() const { return folder_; }

  private:
    struct Segment {
        std::string path;                 ///< before it was compressed
        std::vector<ChunkRecord> chunks;  ///< without their lines
        std::size_t next = 0;             ///< the next chunk
        bool is_closed = false;           ///< no chunk is added to it
    };

    /// The segments of one poller that have packets to return.
    struct Poller : PollerPackets {
        std::string newest;           ///< path of the segment that was added last
        std::set<std::string> known;  ///< paths of all that were added
        std::deque<Segment> segments;
        std::optional<SegmentFile> file;  ///< the first segment, if a chunk of it was read
    };

    void add(const std::string& path);
    void read_index(Segment& segment, bool is_newest);
    void advance(Poller& poller);
    bool next_chunk(Poller& poller);
    bool open_chunk(Poller& poller, const Segment& segment, const ChunkRecord& chunk);

    std::string folder_;
    std::deque<Poller> pollers_;
    Poller* latest_ = nullptr;
    std::int64_t complete_ns_ = 0;
};

/// For a port that replays a recording which goes on.
class FollowedPart final : public nic::FrameStreams {
  public:
    /// `wall_ns`: the clock. `complete_ns`: gets FollowedRecording::complete_ns(), any thread reads
    /// it; relaxed order is enough, because no other data depends on it.
    FollowedPart(std::string folder, PacketRange range, std::function<std::int64_t()> wall_ns,
                 std::shared_ptr<std::atomic<std::int64_t>> complete_ns)
        : folder_(std::move(folder)),
          range_(std::move(range)),
          wall_ns_(std::move(wall_ns)),
          complete_ns_(std::move(complete_ns)) {}

    [[nodiscard]] std::unique_ptr<nic::FrameStream> open(nic::GroupFilter filter,
                                                         Problems& problems) const override;

  private:
    std::string folder_;
    PacketRange range_;
    std::function<std::int64_t()> wall_ns_;
    std::shared_ptr<std::atomic<std::int64_t>> complete_ns_;
};

}  // namespace pinstrike::feed
