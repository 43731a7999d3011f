// path: cold
//
// What `check` says of a config that is sound: all that is in force with it, and what of this host
// is against it.
#pragma once

#include "actors/topology/feed_config.h"
#include "config/problem.h"

#include <string>

namespace pinstrike::actors {

struct CheckReport {
    std::string text;   ///< a config: every key with its value; the rest as comments
    Problems problems;  ///< of this host; none where only the config was asked for
};

[[nodiscard]] CheckReport check_report(const FeedConfig& config, bool config_only);

}  // namespace pinstrike::actors
