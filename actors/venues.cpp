// path: cold
#include "actors/venues.h"

#include "actors/poller.h"
#include "feed/opra/opra.h"
#include "feed/opra/traffic/loop_source.h"
#include "feed/venue_codecs.h"

#include <utility>
#include <vector>

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
    return [traffic = config.traffic, lines = config.lines](
               const nic::PortConfig&, const std::vector<nic::Group>& groups, Problems&) {
        return std::make_unique<feed::opra::traffic::LoopSource>(traffic, lines, groups,
                                                                 nic::UdpChecksumSent::computed);
    };
}

}  // namespace pinstrike::actors
