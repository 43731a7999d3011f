// path: cold
//
// Finds the compiled code of a venue by the config's `kind`. The list of venues is in
// feed/meson.build.
#pragma once

#include "actors/poller/poller_task.h"
#include "actors/topology/feed_config.h"
#include "feed/event/position.h"
#include "nic/open_port.h"

#include <memory>
#include <string_view>

namespace pinstrike::actors {

/// A poller with the venue's codec; null: there is no such venue.
[[nodiscard]] std::unique_ptr<PollerTask> make_poller(std::string_view kind, PollerSetup setup,
                                                      Router router);

/// How the venue numbers the messages of a line. The venue must be known.
[[nodiscard]] feed::Numbering numbering_of(std::string_view kind);

/// The factory for the frames of sim ports; empty if the venue has no traffic generator.
[[nodiscard]] nic::FrameSourceFactory frame_sources(const FeedConfig& config);

}  // namespace pinstrike::actors
