// path: cold
//
// Replays captures.
//
// A replay may have more files than descriptors or memory allow to open at once, because feeds are
// often stored as one file per group and minute. So the port opens all files except the first ones
// only to read the time of their first record, closes them, and opens each again when the replay
// reaches that time. Files that follow each other in time are therefore not open at the same time.
#pragma once

#include "nic/capture/capture_config.h"
#include "nic/capture/capture_reader.h"
#include "nic/capture/replay_start.h"
#include "nic/capture/tunnel.h"
#include "nic/port.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace pinstrike::nic {

/// Selects the frames of a capture that one of several queues delivers. A queue delivers the frames
/// of its own groups, and one of the queues also delivers the frames of groups that no queue has.
/// So exactly one queue delivers each frame, and the packet counts of the queues add up to the
/// number of frames in the capture.
struct GroupFilter {
    std::vector<Group> own;     ///< sorted
    std::vector<Group> others;  ///< sorted
    bool takes_rest = true;     ///< also selects frames of groups in neither list

    [[nodiscard]] bool selects(const CapturedFrame& frame) const;

    /// True if any queue has the group.
    [[nodiscard]] bool knows(const Group& group) const;
};

/// A port that replays one or several captures, merged by time. Of frames with equal times, the
/// frame of the file that is listed first comes first.
class PcapPort final : public Port {
  public:
    /// Opens `files`, and for a folder the captures in it. Null, with every problem added, if a
    /// file cannot be opened.
    [[nodiscard]] static std::unique_ptr<PcapPort> open(
        std::string name, std::span<const std::string> files, Pace pace, std::size_t burst_packets,
        Problems& problems, GroupFilter filter = {},
        std::shared_ptr<ReplayStart> start = std::make_shared<ReplayStart>());

    std::size_t receive(std::span<Packet> burst, std::int64_t now_ns) override;

    [[nodiscard]] bool exhausted() const override { return due_.empty(); }

    /// `errors` counts the files that were not read to their end.
    [[nodiscard]] DeviceStatistics statistics() const override;

    [[nodiscard]] std::vector<std::string> remarks() const override;

    [[nodiscard]] std::vector<std::string> unread() const override;

    [[nodiscard]] bool replays() const override { return true; }

  private:
    /// A file. It has no reader while it waits to be opened again, and after its end.
    struct Source {
        std::string path;
        std::unique_ptr<CaptureReader> reader;
        CapturedFrame head;        ///< the next frame, if the file has a reader
        std::uint64_t record = 0;  ///< number of `head` in the file, from 1
        TunnelExit tunnel;
        std::uint64_t cut_packets = 0;  ///< packets of known groups that the snapshot length cut
        std::string complaint;          ///< the reason for not reading the file to its end
    };

    /// The capture time at which a file's next frame is due or the file has to be opened again, and
    /// the index of the file.
    using Due = std::pair<std::int64_t, std::size_t>;

    /// A leap in the times of a capture that the replay skipped.
    struct Leap {
        std::size_t source = 0;
        std::uint64_t record = 0;
        std::int64_t size_ns = 0;
    };

    /// The number of leaps whose record and size are kept for the report. It is fixed because a
    /// poll thread does not allocate.
    static constexpr std::size_t leaps_reported_max = 8;

    PcapPort(std::string name, Pace pace, std::size_t burst_packets, GroupFilter filter,
             std::shared_ptr<ReplayStart> start);

    void add(CaptureReader reader);
    void open_again(std::size_t index);
    [[nodiscard]] bool select_head(Source& source);
    void advance(std::size_t index);
    void end(Source& source);
    [[nodiscard]] bool is_due(const Due& next, std::int64_t now_ns);

    std::vector<Source> sources_;
    /// The entry with the earliest time is on top.
    std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
    Pace pace_;
    std::shared_ptr<ReplayStart> start_;
    std::optional<std::size_t> start_number_;  ///< this port's number in start_; nullopt: no frames
    std::array<Leap, leaps_reported_max> leaps_;
    std::uint64_t leaps_count_ = 0;
    GroupFilter filter_;
    std::size_t burst_packets_;
    std::unique_ptr<std::byte[]> buffer_;  ///< the frames of the last burst
    Counter unread_files_;
};

}  // namespace pinstrike::nic
