// path: cold
//
// Replays a stream of frames, such as a part of a recording.
#pragma once

#include "nic/capture/capture_config.h"
#include "nic/capture/frame_stream.h"
#include "nic/capture/pcap_port.h"
#include "nic/capture/replay_gate.h"
#include "nic/capture/replay_start.h"
#include "nic/port.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pinstrike::nic {

class PartPort final : public Port {
  public:
    /// Null, with a Problem, if the frames cannot be read. `start` has the port's first frame that
    /// is due by `pace`.
    [[nodiscard]] static std::unique_ptr<PartPort> open(std::string name, const CapturePart& part,
                                                        Pace pace, std::size_t burst_packets,
                                                        Problems& problems, GroupFilter filter,
                                                        std::shared_ptr<ReplayStart> start);

    std::size_t receive(std::span<Packet> burst, std::int64_t now_ns) override;

    /// Not before the gate is open, because whoever opens it waits for the poller's marks.
    [[nodiscard]] bool exhausted() const override {
        return ended_ && (part_.gate == nullptr || part_.gate->is_open());
    }

    [[nodiscard]] DeviceStatistics statistics() const override;

    [[nodiscard]] std::vector<std::string> remarks() const override;

    [[nodiscard]] std::vector<std::string> unread() const override;

    [[nodiscard]] bool replays() const override { return true; }

  private:
    PartPort(std::string name, const CapturePart& part, Pace pace, std::size_t burst_packets,
             GroupFilter filter, std::shared_ptr<ReplayStart> start);

    void advance();
    [[nodiscard]] std::int64_t next_ns() const;
    [[nodiscard]] bool is_due(std::int64_t now_ns);

    std::unique_ptr<FrameStream> frames_;
    CapturePart part_;
    Pace pace_;
    GroupFilter filter_;
    std::shared_ptr<ReplayStart> start_;
    std::size_t start_number_ = 0;
    std::size_t gate_number_ = 0;
    CapturedFrame head_;     ///< the next frame, if has_head_
    bool has_head_ = false;  ///< false: none yet, or none any more
    bool ended_ = false;
    std::size_t burst_packets_;
    std::unique_ptr<std::byte[]> buffer_;  ///< the frames of the last burst
    Counter unread_;                       ///< sentences about what was not read
};

}  // namespace pinstrike::nic
