// path: cold
#include "actors/appliance/venues.h"

#include "actors/poller/poller.h"
#include "feed/opra/opra.h"
#include "feed/opra/traffic/loop_factory.h"
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

nic::FrameSourceFactory frame_sources(const FeedConfig& config) {
    if (config.kind != feed::opra::Codec::name) {
        return {};
    }
    return feed::opra::traffic::loop_factory(config.traffic, config.lines);
}

}  // namespace pinstrike::actors
