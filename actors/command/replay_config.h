// path: cold
//
// What `replay` and `latency --replay` share: the appliance of a config, fed by captures alone.
#pragma once

#include "actors/topology/feed_config.h"
#include "config/problem.h"
#include "nic/port_config.h"

#include <optional>
#include <string>
#include <vector>

namespace pinstrike::command {

/// "max", "real", or "x2.5".
[[nodiscard]] std::optional<nic::Pace> parse_pace(const std::string& text);

struct ReplaySource {
    std::vector<std::string> files;
    std::string config;  ///< threads and lines; empty: one poller and one core for all lines
    nic::Pace pace;
    /// Threads wait as the config says, and without one they spin: how they wait is measured.
    /// Else pollers sleep where the pace leaves them time.
    bool timed = false;
};

/// Nothing, with all told on standard error and `status` set, if a file or the config is wrong.
[[nodiscard]] std::optional<actors::FeedConfig> replay_config(const ReplaySource& source,
                                                              Exit& status);

}  // namespace pinstrike::command
