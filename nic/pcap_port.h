// path: cold
//
// Replays captures. What is read from a file is copied once more, so that a burst may hold frames
// of several files and outlive libpcap's one-frame buffer.
#pragma once

#include "nic/capture_reader.h"
#include "nic/port.h"
#include "nic/port_config.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pinstrike::nic {

/// Which frames of a capture one of several pollers takes: those of the listed groups, or all but
/// those. So every frame is handed out by exactly one queue, and the account of the port adds up.
struct GroupFilter {
    std::vector<Group> groups;  ///< sorted
    bool takes_listed = false;

    [[nodiscard]] bool takes(const Packet& packet) const;
};

/// When frames are due: capture time, counted from the first frame, against wall time, counted from
/// when it was first asked for, so that rounding never adds up to a drift. All captures that are
/// replayed together count from one start, whatever ports and pollers they are spread over: one
/// that begins later than the others comes later.
class ReplayStart {
  public:
    /// The time of a capture's first frame. Before any poll thread begins.
    void reckon_with(std::int64_t first_ts_ns) { ts_ns_ = std::min(ts_ns_, first_ts_ns); }

    /// From any poll thread.
    [[nodiscard]] bool is_due(std::int64_t ts_ns, std::int64_t now_ns, Pace pace);

  private:
    static constexpr std::int64_t not_yet = std::numeric_limits<std::int64_t>::min();

    std::int64_t ts_ns_ = std::numeric_limits<std::int64_t>::max();
    /// Wall time. Set once, by whichever thread comes first; relaxed is enough, as the one value is
    /// all that the threads tell each other.
    std::atomic<std::int64_t> started_ns_{not_yet};
};

/// One or several captures, merged by time (a tie goes to the file named first), each frame once.
class PcapPort final : public Port {
  public:
    PcapPort(std::string name, std::vector<CaptureReader> readers, Pace pace,
             std::size_t burst_packets, GroupFilter filter = {},
             std::shared_ptr<ReplayStart> start = std::make_shared<ReplayStart>());

    std::size_t receive(std::span<Packet> burst, std::int64_t now_ns) override;

    [[nodiscard]] bool exhausted() const override;

    /// `errors` counts the files that ended in the middle of something.
    [[nodiscard]] DeviceStatistics statistics() const override;

    [[nodiscard]] std::vector<std::string> remarks() const override;

    [[nodiscard]] bool replays() const override { return true; }

  private:
    /// A file, and the frame of it that comes next; nullopt at its end.
    struct Source {
        CaptureReader reader;
        std::optional<CapturedFrame> head;
    };

    void advance(Source& source);
    [[nodiscard]] Source* earliest();
    [[nodiscard]] Packet copy(const CapturedFrame& frame, std::size_t& used_bytes);

    std::vector<Source> sources_;
    Pace pace_;
    std::shared_ptr<ReplayStart> start_;
    GroupFilter filter_;
    std::size_t burst_packets_;
    std::unique_ptr<std::byte[]> buffer_;  ///< the frames of the last burst
    Counter cut_files_;
};

}  // namespace pinstrike::nic
