// path: cold
//
// The packets of a part of a recording, for a port that replays them.
#pragma once

#include "feed/recording/recorded_packets.h"
#include "nic/capture/frame_stream.h"

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

  private:
    std::string folder_;
    PacketRange range_;
    SegmentSpan span_;
};

}  // namespace pinstrike::feed
