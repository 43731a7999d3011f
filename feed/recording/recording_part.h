// path: cold
//
// The packets of a part of a recording, for a port that replays them.
#pragma once

#include "feed/recording/recorded_packets.h"
#include "nic/capture/frame_stream.h"

#include <atomic>
#include <memory>
#include <string>
#include <utility>

namespace pinstrike::feed {

class RecordingPart final : public nic::FrameStreams {
  public:
    RecordingPart(std::string folder, PacketRange range, SegmentSpan span = {})
        : folder_(std::move(folder)), range_(std::move(range)), span_(span) {}

    [[nodiscard]] std::unique_ptr<nic::FrameStream> open(nic::GroupFilter filter,
                                                         Problems& problems) const override;

    /// As RecordedPackets::share_read(), now and then. Any thread.
    [[nodiscard]] double share_read() const {
        return share_read_->load(std::memory_order_relaxed);  // only shown
    }

  private:
    std::string folder_;
    PacketRange range_;
    SegmentSpan span_;
    std::shared_ptr<std::atomic<double>> share_read_ = std::make_shared<std::atomic<double>>(0);
};

}  // namespace pinstrike::feed
