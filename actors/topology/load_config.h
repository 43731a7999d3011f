// path: cold
#pragma once

#include "actors/topology/feed_config.h"
#include "config/problem.h"

#include <optional>
#include <string>
#include <string_view>

namespace pinstrike::actors {

/// Loads and completes the config of a file: names, lines and groups are filled in, and all rules
/// are checked. nullopt, with all problems listed, if anything is wrong.
std::optional<FeedConfig> load_config(const std::string& path, Problems& problems);

/// The same for a text. `file` is the name used in problems.
std::optional<FeedConfig> parse_config(std::string_view text, const std::string& file,
                                       Problems& problems);

/// The whole config as YAML, every key with its value. Loading the text gives the same config.
std::string effective_config(const FeedConfig& config);

}  // namespace pinstrike::actors
