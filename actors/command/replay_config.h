// path: cold
//
// The config of an appliance that gets only captures as input.
#pragma once

#include "actors/command/progress.h"
#include "actors/command/replay_range.h"
#include "actors/topology/feed_config.h"
#include "nic/capture/capture_config.h"

#include <functional>
#include <memory>
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

/// Ends the command if a file or the config is wrong.
[[nodiscard]] actors::FeedConfig replay_config(const ReplaySource& source);

using MakeActor = std::function<std::unique_ptr<actors::Actor>()>;

/// Leaves one poller, and one core with this actor alone, so that events have the order of the
/// packets. Nothing else of the config runs. `takes_state`: the actor takes that of a snapshot.
void make_single_core(actors::FeedConfig& config, MakeActor make_actor, bool takes_state);

}  // namespace pinstrike::command
