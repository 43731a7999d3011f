// path: cold
#pragma once

#include "config/problem.h"
#include "feed/lines/line_config.h"
#include "feed/opra/traffic/traffic_config.h"

#include <string>
#include <string_view>
#include <vector>

namespace pinstrike::command {

/// Sends a loop of generated traffic on an interface for `seconds` seconds, in real time and at the
/// config's rate. Prints the number of sent packets on standard output, and errors on standard
/// error.
Exit send_loop(const feed::opra::TrafficConfig& config, const std::vector<feed::LineConfig>& lines,
               std::string_view streams, const std::string& interface, double seconds);

}  // namespace pinstrike::command
