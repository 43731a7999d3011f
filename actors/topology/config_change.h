// path: cold
//
// What differs between the config that runs and the one that shall, key by key.
#pragma once

#include "actors/topology/feed_config.h"

#include <string>
#include <vector>

namespace pinstrike::actors {

struct ConfigChange {
    std::string path;      ///< "ports[0].sources"
    bool reloads = false;  ///< a running program can take it (Section::reloads)
    std::string before;    ///< as in the file, on one line; long ones cut
    std::string after;
};

/// Keys that differ, in the order of the tables; where lists differ in length, the list.
[[nodiscard]] std::vector<ConfigChange> changes_between(const FeedConfig& before,
                                                        const FeedConfig& after);

}  // namespace pinstrike::actors
