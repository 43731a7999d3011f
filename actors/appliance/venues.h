// path: cold
//
// From a config's `kind` to what is compiled for that venue. The list of venues itself stands in
// feed/meson.build.
#pragma once

#include "actors/poller/poller_task.h"
#include "actors/topology/feed_config.h"
#include "feed/event/position.h"
#include "nic/open_port.h"

#include <memory>
#include <string_view>

namespace pinstrike::actors {

/// A poller of the venue's blocks; null: no such venue.
[[nodiscard]] std::unique_ptr<PollerTask> make_poller(std::string_view kind, PollerSetup setup,
                                                      Router router);

/// How the venue numbers the messages of a line. The venue must be known.
[[nodiscard]] feed::Numbering numbering_of(std::string_view kind);

/// Makes the frames of sim ports; empty where no traffic generator of the venue is registered.
[[nodiscard]] nic::FrameSourceFactory frame_sources(const FeedConfig& config);

}  // namespace pinstrike::actors
