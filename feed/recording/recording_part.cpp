// path: cold
#include "feed/recording/recording_part.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace pinstrike::feed {

namespace {

class RecordedFrames final : public nic::FrameStream {
  public:
    RecordedFrames(std::string folder, RecordedPackets packets, nic::GroupFilter filter,
                   std::shared_ptr<std::atomic<double>> share_read)
        : folder_(std::move(folder)),
          packets_(std::move(packets)),
          filter_(std::move(filter)),
          share_read_(std::move(share_read)) {}

    [[nodiscard]] bool next(nic::CapturedFrame& out) override {
        while (const std::optional<RecordedPacket> packet = packets_.next()) {
            out = {packet->frame, packet->ts_ns};
            out.record = ++packets_read_;
            if (packets_read_ % packets_per_share == 1) {
                share_read_->store(packets_.share_read(), std::memory_order_relaxed);
            }
            if (filter_.selects(out)) {
                return true;
            }
        }
        return false;
    }

    [[nodiscard]] std::string path_of(std::uint32_t /*file*/) const override { return folder_; }

    [[nodiscard]] std::uint64_t unread_count() const override { return packets_.damage().size(); }

    [[nodiscard]] std::vector<std::string> unread() const override { return packets_.damage(); }

    [[nodiscard]] std::vector<std::string> missing() const override { return packets_.missing(); }

  private:
    static constexpr std::uint64_t packets_per_share = 1024;

    std::string folder_;
    RecordedPackets packets_;
    nic::GroupFilter filter_;
    std::shared_ptr<std::atomic<double>> share_read_;
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
    return std::make_unique<RecordedFrames>(folder_, std::move(*packets), std::move(filter),
                                            share_read_);
}

}  // namespace pinstrike::feed
