// path: cold
//
// What a support bundle is made of: one function a part. A part that cannot be had says why; none
// keeps the others from being there.
#pragma once

#include "actors/command/support/redactor.h"
#include "actors/topology/feed_config.h"
#include "config/problem.h"

#include <optional>
#include <string>
#include <vector>

namespace pinstrike::actors::support {

/// What the bundle is about.
struct Subject {
    std::string config_file;
    std::string unit;      ///< "pinstrike@opra"
    std::string instance;  ///< "opra", or the path of its admin socket
    std::string log_file;  ///< empty: the unit's journal
    std::optional<std::string> config_text;
    std::optional<FeedConfig> config;  ///< nothing: it is wrong
    Problems problems;                 ///< of the config
};

struct Part {
    std::string name;  ///< of its file
    std::string text;
    std::string absent;  ///< why it is not there; empty: it is
};

[[nodiscard]] Subject read_subject(const std::string& config_file);

/// All of them, redacted, and the manifest last. `when` names the time, for people.
[[nodiscard]] std::vector<Part> collect_parts(const Subject& subject, Redactor& redactor,
                                              const std::string& when);

}  // namespace pinstrike::actors::support
