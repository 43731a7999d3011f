// path: cold
//
// The differences between the config in use and a new one, key by key.
#pragma once

#include "actors/topology/feed_config.h"

#include <string>
#include <vector>

namespace pinstrike::actors {

struct ConfigChange {
    std::string path;      ///< "ports[0].sources"
    bool reloads = false;  ///< a running program can adopt the change (Section::reloads)
    std::string before;    ///< as in the file, on one line; long values are cut
    std::string after;
};

/// The keys that differ, in the order of the tables. If lists differ in length, the list itself.
[[nodiscard]] std::vector<ConfigChange> changes_between(const FeedConfig& before,
                                                        const FeedConfig& after);

}  // namespace pinstrike::actors
