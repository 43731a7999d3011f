// path: cold
#include "feed/opra/traffic/presets.h"

#include "feed/opra/lines.h"
#include "feed/opra/traffic/delivery.h"
#include "feed/opra/traffic/traffic_session.h"
#include "nic/capture/capture_writer.h"

#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

namespace pinstrike::feed::opra::traffic {
namespace {

class Capture final : public PacketSink {
  public:
    explicit Capture(nic::CaptureWriter& writer) : writer_(writer) {}

    void packet(std::span<const std::byte> frame, std::int64_t ts_arrival_ns) override {
        ++packets_;
        writer_.write(frame, ts_arrival_ns);
    }

    [[nodiscard]] std::size_t packets() const { return packets_; }

  private:
    nic::CaptureWriter& writer_;
    std::size_t packets_ = 0;
};

std::vector<LineConfig> quote_lines() {
    std::vector<std::uint16_t> numbers(96);
    std::iota(numbers.begin(), numbers.end(), std::uint16_t{1});
    return published_lines(numbers);
}

}  // namespace

void shape_as(std::string_view preset, TrafficConfig& traffic) {
    traffic.shape = preset.starts_with("full") ? PacketShape::full : PacketShape::ordinary;
    traffic.mix = preset.ends_with("-mix") ? 1 : 0;
    traffic.end_with_reset = true;
    traffic.session = false;
}

std::size_t write_preset(const std::string& path, const PresetTraffic& traffic,
                         Problems& problems) {
    auto writer = nic::CaptureWriter::open(path, problems);
    if (!writer) {
        return 0;
    }
    TrafficConfig config;
    shape_as(traffic.preset, config);
    config.series_count = traffic.series_count;
    config.messages_per_packet = traffic.messages_per_packet;
    config.packets_count = preset_packets / traffic.streams.size();
    config.messages_count = std::numeric_limits<std::uint64_t>::max();
    const std::vector<LineConfig> lines = quote_lines();
    Capture capture{*writer};
    Delivery delivery{config, lines, traffic.streams, capture, nullptr};
    TrafficSession{config, lines, delivery}.run();
    delivery.finish();
    return writer->close(problems) ? capture.packets() : 0;
}

}  // namespace pinstrike::feed::opra::traffic
