// path: cold
#include "feed/recording/recording_part.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace pinstrike::feed {

namespace {

class RecordedFrames final : public nic::FrameStream {
  public:
    RecordedFrames(std::string folder, RecordedPackets packets, nic::GroupFilter filter)
        : folder_(std::move(folder)), packets_(std::move(packets)), filter_(std::move(filter)) {}

    [[nodiscard]] bool next(nic::CapturedFrame& out) override {
        while (const std::optional<RecordedPacket> packet = packets_.next()) {
            out = {packet->frame, packet->ts_ns};
            out.record = ++packets_read_;
            if (filter_.selects(out)) {
                return true;
            }
        }
        return false;
    }

    [[nodiscard]] std::string path_of(std::uint32_t /*file*/) const override { return folder_; }

    [[nodiscard]] std::uint64_t unread_count() const override { return packets_.damage().size(); }

    [[nodiscard]] std::vector<std::string> unread() const override { return packets_.damage(); }

    [[nodiscard]] std::vector<std::string> missing() const override {
        if (packets_.not_recorded() == 0) {
            return {};
        }
        return {fmt::format("up to {} packets are missing because they were not recorded",
                            packets_.not_recorded())};
    }

  private:
    std::string folder_;
    RecordedPackets packets_;
    nic::GroupFilter filter_;
    std::uint64_t packets_read_ = 0;
};

}  // namespace

std::unique_ptr<nic::FrameStream> RecordingPart::open(nic::GroupFilter filter,
                                                      Problems& problems) const {
    auto packets = RecordedPackets::open(folder_, problems, span_);
    if (!packets) {
        return nullptr;
    }
    packets->select(range_);
    return std::make_unique<RecordedFrames>(folder_, std::move(*packets), std::move(filter));
}

}  // namespace pinstrike::feed
