// path: cold
//
// Runs one side of a bridge: its connections, and between them the signals, the log, the metrics
// endpoint and systemd.
#pragma once

#include "actors/bridge/bridge_config.h"
#include "config/problem.h"

#include <cstdint>
#include <string>

namespace pinstrike::actors {

struct BridgeOptions {
    std::string connect;       ///< address of the serving side; empty: this is the serving side
    std::int64_t for_ns = 0;   ///< 0: until a signal
    std::string account_file;  ///< JSON at the end; empty: none
};

/// Runs until SIGTERM, SIGINT or the end of `for_ns`, ends all connections as agreed, and prints
/// the account.
[[nodiscard]] Exit run_bridge(const bridge::BridgeConfig& config, const BridgeOptions& options);

}  // namespace pinstrike::actors
