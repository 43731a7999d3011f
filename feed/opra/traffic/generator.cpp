// path: cold
#include "feed/opra/traffic/generator.h"

#include "config/section.h"
#include "feed/opra/opra.h"
#include "feed/opra/traffic/loop_source.h"
#include "feed/opra/traffic/traffic_keys.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>

namespace pinstrike::feed::opra::traffic {
namespace {

class LoopTraffic final : public Traffic {
  public:
    explicit LoopTraffic(const TrafficConfig& config) : config_(config) {}

    [[nodiscard]] nic::FrameSourceFactory sources(std::vector<LineConfig> lines) const override {
        return [config = config_, lines = std::move(lines)](
                   const nic::PortConfig& port, const std::vector<nic::Group>& groups,
                   Problems& problems) -> std::unique_ptr<nic::FrameSource> {
            const auto checksum = port.udp_checksum == nic::ChecksumCheck::off
                                      ? nic::UdpChecksumSent::none
                                      : nic::UdpChecksumSent::computed;
            auto source = std::make_unique<LoopSource>(config, lines, groups, checksum);
            if (source->loop_blocks() == 0) {
                add_problem(problems, "",
                            fmt::format("port {}: no traffic is generated for the lines of one of "
                                        "its pollers; raise traffic.lines_count or "
                                        "traffic.messages_count",
                                        port.name));
                return nullptr;
            }
            return source;
        };
    }

    [[nodiscard]] double messages_per_second() const override {
        return config_.rate_messages_per_second;
    }

    [[nodiscard]] const TrafficConfig& config() const { return config_; }

  private:
    TrafficConfig config_;
};

/// The cast is safe because only settings_of() makes settings.
TrafficConfig config_of(const TrafficSettings& settings) {
    return settings == nullptr ? TrafficConfig{}
                               : static_cast<const LoopTraffic&>(*settings).config();
}

Form<TrafficSettings> form() {
    const Form<TrafficConfig> keys = section_form(traffic_section());
    Form<TrafficSettings> form;
    form.words = keys.words;
    form.schema = keys.schema;
    form.document = keys.document;
    form.read = [read = keys.read](const Node& node, const std::string& path, TrafficSettings& into,
                                   Reader& reader) {
        TrafficConfig config = config_of(into);
        const bool good = read(node, path, config, reader);
        into = settings_of(config);
        return good;
    };
    form.write = [write = keys.write](const TrafficSettings& settings) {
        return write(config_of(settings));
    };
    return form;
}

}  // namespace

TrafficSettings settings_of(const TrafficConfig& config) {
    return std::make_shared<LoopTraffic>(config);
}

TrafficGenerator generator() {
    return {std::string{Codec::name}, settings_of({}), form()};
}

}  // namespace pinstrike::feed::opra::traffic
