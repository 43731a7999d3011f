// path: cold
//
// Replays captures. What is read from a file is copied once more, so that a burst may hold frames
// of several files and outlive libpcap's one-frame buffer.
#pragma once

#include "nic/capture_reader.h"
#include "nic/port.h"
#include "nic/port_config.h"
#include "nic/replay_start.h"
#include "nic/tunnel.h"

#include <array>
#include <cstddef>
#include <cstdint>
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
    /// A file, and the frame of it that comes next, the how manieth it is; nullopt at its end.
    struct Source {
        CaptureReader reader;
        std::optional<CapturedFrame> head;
        std::uint64_t record = 0;
        TunnelExit tunnel;
    };

    /// A leap in the times of a capture, which was not waited for.
    struct Leap {
        const Source* source = nullptr;
        std::uint64_t record = 0;
        std::int64_t size_ns = 0;
    };

    /// So many are told; a poll thread has no memory for more.
    static constexpr std::size_t leaps_told_max = 8;

    void advance(Source& source);
    [[nodiscard]] Source* earliest();
    [[nodiscard]] bool is_due(const Source& source, std::int64_t now_ns);
    [[nodiscard]] Packet copy(const CapturedFrame& frame, std::size_t& used_bytes);

    std::vector<Source> sources_;
    Pace pace_;
    std::shared_ptr<ReplayStart> start_;
    std::size_t start_number_ = 0;  ///< by which the port asks it
    std::array<Leap, leaps_told_max> leaps_;
    std::uint64_t leaps_count_ = 0;
    GroupFilter filter_;
    std::size_t burst_packets_;
    std::unique_ptr<std::byte[]> buffer_;  ///< the frames of the last burst
    Counter cut_files_;
};

}  // namespace pinstrike::nic
