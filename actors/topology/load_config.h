// path: cold
#pragma once

#include "actors/topology/feed_config.h"
#include "config/problem.h"

#include <optional>
#include <string>
#include <string_view>

namespace pinstrike::actors {

/// The config of a file, complete: names, lines and groups filled in, all rules kept. Nothing, with
/// every problem told, if anything is wrong.
std::optional<FeedConfig> load_config(const std::string& path, Problems& problems);

/// The same of a text; `file` only names it in problems.
std::optional<FeedConfig> parse_config(std::string_view text, const std::string& file,
                                       Problems& problems);

/// The whole config as YAML, every key with its value; loads as the same config.
std::string effective_config(const FeedConfig& config);

}  // namespace pinstrike::actors
