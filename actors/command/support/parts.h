// path: cold
//
// The parts of a support bundle. Each part is made by a function of its own. A part that cannot be
// made says why, and the other parts are made nevertheless.
#pragma once

#include "actors/command/support/redactor.h"
#include "actors/topology/feed_config.h"
#include "config/problem.h"

#include <optional>
#include <string>
#include <vector>

namespace pinstrike::actors::support {

/// The instance that the bundle describes.
struct Subject {
    std::string config_file;
    std::string unit;      ///< "pinstrike@opra"
    std::string instance;  ///< "opra", or the path of its admin socket
    std::string log_file;  ///< empty: the unit's journal
    std::optional<std::string> config_text;
    std::optional<FeedConfig> config;  ///< nothing: the config is wrong
    Problems problems;                 ///< problems of the config
};

struct Part {
    std::string name;  ///< name of the file
    std::string text;
    std::string absent;  ///< why the part is missing; empty: it is not
};

[[nodiscard]] Subject read_subject(const std::string& config_file);

/// Returns all parts, redacted, with the manifest as the last one. `when` is the time as text for
/// the manifest.
[[nodiscard]] std::vector<Part> collect_parts(const Subject& subject, Redactor& redactor,
                                              const std::string& when);

}  // namespace pinstrike::actors::support
