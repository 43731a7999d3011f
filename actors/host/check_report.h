// path: cold
//
// The report of `check` on a valid config: all values in force, and the problems of this host.
#pragma once

#include "actors/topology/feed_config.h"
#include "config/problem.h"

#include <optional>
#include <string>

namespace pinstrike::actors {

struct CheckReport {
    std::string text;   ///< a config with every key and its value; all else as comments
    Problems problems;  ///< problems of this host; empty if only the config was asked for
};

/// `messages_per_second`: for the space of a recording; nullopt: the rate of the sim ports, if any.
[[nodiscard]] CheckReport check_report(const FeedConfig& config, bool config_only,
                                       std::optional<double> messages_per_second = {});

}  // namespace pinstrike::actors
