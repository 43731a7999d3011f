// path: cold
//
// Runs a gateway: its thread, and beside it the signals, the log, the metrics endpoint and systemd.
#pragma once

#include "actors/gateway/gateway_config.h"
#include "config/problem.h"

#include <cstdint>
#include <string>

namespace pinstrike::actors {

struct GatewayOptions {
    std::int64_t for_ns = 0;   ///< 0: until a signal
    std::string account_file;  ///< JSON at the end; empty: none
};

/// Serves until SIGTERM (clients connect again), SIGINT or the end of `for_ns` (they do not), and
/// prints what was served. SIGHUP reads the keys again.
[[nodiscard]] Exit run_gateway(const gateway::GatewayConfig& config, const GatewayOptions& options);

}  // namespace pinstrike::actors
