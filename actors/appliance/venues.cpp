// path: cold
#include "actors/appliance/venues.h"

#include "actors/poller/poller.h"
#include "config/check.h"
#include "feed/traffic/traffic_generator.h"
#include "feed/venue_codecs.h"

#include <utility>

namespace pinstrike::actors {

std::unique_ptr<PollerTask> make_poller(std::string_view kind, PollerSetup setup, Router router) {
    std::unique_ptr<PollerTask> poller;
    feed::with_venue(kind, [&]<class Codec>() {
        poller = std::make_unique<Poller<Codec>>(std::move(setup), std::move(router));
    });
    return poller;
}

feed::Numbering numbering_of(std::string_view kind) {
    feed::Numbering numbering;
    const bool known =
        feed::with_venue(kind, [&numbering]<class Codec>() { numbering = Codec::numbering; });
    PINSTRIKE_CHECK(known);
    return numbering;
}

nic::FrameSourceFactory frame_sources(const FeedConfig& config) {
    const feed::TrafficGenerator* const generator = feed::traffic_generator();
    if (generator == nullptr || generator->venue != config.kind) {
        return {};
    }
    const feed::TrafficSettings& traffic =
        config.traffic != nullptr ? config.traffic : generator->defaults;
    return traffic->sources(config.lines);
}

}  // namespace pinstrike::actors
