// path: cold
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace pinstrike::nic {

/// Replay pace of captures: 0 is as fast as possible, 1 is real time, 2.5 is 2.5 times as fast.
struct Pace {
    double factor = 0;
};

/// Parses "max", "real", or a factor such as "x2.5". nullopt if the text is none of these.
[[nodiscard]] std::optional<Pace> parse_pace(const std::string& text);

/// The keys of a port of captures.
struct CaptureConfig {
    std::vector<std::string> files;
    Pace pace;
};

}  // namespace pinstrike::nic
