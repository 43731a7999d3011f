// path: cold
//
// Replays the frames of captures, or of a part of a recording.
#pragma once

#include "nic/capture/capture_config.h"
#include "nic/capture/frame_stream.h"
#include "nic/capture/group_filter.h"
#include "nic/capture/replay_gate.h"
#include "nic/capture/replay_start.h"
#include "nic/port.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace pinstrike::nic {

class PcapPort final : public Port {
  public:
    /// Opens captures, merged by time. Null, with every problem added, if one cannot be opened.
    [[nodiscard]] static std::unique_ptr<PcapPort> open(
        std::string name, std::span<const std::string> files, Pace pace, std::size_t burst_packets,
        Problems& problems, GroupFilter filter = {},
        std::shared_ptr<ReplayStart> start = std::make_shared<ReplayStart>());

    /// Delivers these frames, of a part if it has one. Null if there are none, or, with a Problem,
    /// if no thread can read them.
    [[nodiscard]] static std::unique_ptr<PcapPort> open(
        std::string name, std::unique_ptr<FrameStream> frames, const CapturePart& part, Pace pace,
        std::size_t burst_packets, Problems& problems, std::shared_ptr<ReplayStart> start);

    std::size_t receive(std::span<Packet> burst, std::int64_t now_ns) override;

    /// Not before the gate is open, because whoever opens it waits for the poller's marks.
    [[nodiscard]] bool exhausted() const override {
        return ended_ && (part_.gate == nullptr || part_.gate->is_open());
    }

    /// `errors` counts files, or parts of them, that were not read.
    [[nodiscard]] DeviceStatistics statistics() const override;

    [[nodiscard]] std::vector<std::string> remarks() const override;

    [[nodiscard]] std::vector<std::string> unread() const override;

    [[nodiscard]] bool replays() const override { return true; }

  private:
    /// A leap in the times of a capture that the replay skipped.
    struct Leap {
        std::uint32_t file = 0;
        std::uint64_t record = 0;
        std::int64_t size_ns = 0;
    };

    /// The number of leaps whose record and size are kept for the report. It is fixed because a
    /// poll thread does not allocate.
    static constexpr std::size_t leaps_reported_max = 8;

    PcapPort(std::string name, std::unique_ptr<FrameStream> frames, CapturePart part, Pace pace,
             std::size_t burst_packets, std::shared_ptr<ReplayStart> start);

    void advance();
    [[nodiscard]] std::int64_t next_ns() const;
    [[nodiscard]] bool is_due(std::int64_t now_ns);

    std::unique_ptr<FrameStream> frames_;
    CapturePart part_;
    Pace pace_;
    std::shared_ptr<ReplayStart> start_;
    std::size_t start_number_ = 0;
    std::size_t gate_number_ = 0;
    CapturedFrame head_;     ///< the next frame, if has_head_
    bool has_head_ = false;  ///< false: none yet, or none any more
    bool ended_ = false;
    std::array<Leap, leaps_reported_max> leaps_;
    std::uint64_t leaps_count_ = 0;
    std::size_t burst_packets_;
    std::unique_ptr<std::byte[]> buffer_;  ///< the frames of the last burst; null: they are kept
    Counter unread_;
};

}  // namespace pinstrike::nic
