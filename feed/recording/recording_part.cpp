// path: cold
#include "feed/recording/recording_part.h"

#include <fmt/format.h>

#include <optional>
#include <vector>

namespace pinstrike::feed {

namespace {

class RecordedFrames final : public nic::FrameStream {
  public:
    explicit RecordedFrames(RecordedPackets packets) : packets_(std::move(packets)) {}

    [[nodiscard]] bool next(nic::CapturedFrame& out) override {
        const std::optional<RecordedPacket> packet = packets_.next();
        if (packet) {
            out = {packet->frame, packet->ts_ns, 0};
        }
        return packet.has_value();
    }

    [[nodiscard]] std::vector<std::string> unread() const override { return packets_.damage(); }

    [[nodiscard]] std::vector<std::string> missing() const override {
        if (packets_.not_recorded() == 0) {
            return {};
        }
        return {fmt::format("up to {} packets are missing because they were not recorded",
                            packets_.not_recorded())};
    }

  private:
    RecordedPackets packets_;
};

}  // namespace

std::unique_ptr<nic::FrameStream> RecordingPart::open(Problems& problems) const {
    auto packets = RecordedPackets::open(folder_, problems, span_);
    if (!packets) {
        return nullptr;
    }
    packets->select(range_);
    return std::make_unique<RecordedFrames>(std::move(*packets));
}

}  // namespace pinstrike::feed
