// path: cold
//
// The config of an appliance that gets only captures as input.
#pragma once

#include "actors/command/progress.h"
#include "actors/command/replay_range.h"
#include "actors/topology/feed_config.h"
#include "config/problem.h"
#include "nic/capture/capture_config.h"

#include <optional>
#include <string>
#include <vector>

namespace pinstrike::command {

struct ReplaySource {
    std::vector<std::string> files;
    std::string config;  ///< file with threads and lines; empty: one poller and one core
    nic::Pace pace;
    /// If true, threads wait as the config says, or spin if there is no config, because their way
    /// of waiting affects the latency. If false, pollers sleep when the pace leaves them time.
    bool timed = false;
    ReplayRange range{};  ///< without frames: all packets of the files
};

/// How much of the files or of the range was read.
[[nodiscard]] inline ShareRead share_of(const ReplaySource& source) {
    return source.range.share_read ? source.range.share_read : share_of_files(source.files);
}

/// The port that replays captures. It checks packets as the ports of the feed do.
[[nodiscard]] nic::PortConfig capture_port(nic::CaptureConfig capture,
                                           const actors::FeedConfig& feed);

/// In a recording, the blocks that recovery brought are packets of the retransmission groups. Adds
/// these groups to the lines of a feed that has recovery.
void take_repairs(actors::FeedConfig& config);

/// If a file or the config is wrong, prints all problems on standard error, sets `status` and
/// returns nothing.
[[nodiscard]] std::optional<actors::FeedConfig> replay_config(const ReplaySource& source,
                                                              Exit& status);

}  // namespace pinstrike::command
