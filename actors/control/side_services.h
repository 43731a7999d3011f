// path: cold
//
// The processes beside a feed: each runs its thread, and beside it the signals, the log, the
// metrics endpoint and systemd (side_process.h).
#pragma once

#include "actors/bridge/bridge_config.h"
#include "actors/gateway/gateway_config.h"
#include "actors/kafka/kafka_config.h"
#include "config/problem.h"

#include <cstdint>
#include <string>

namespace pinstrike::actors {

struct SideOptions {
    std::int64_t for_ns = 0;   ///< 0: until a signal
    std::string account_file;  ///< JSON at the end; empty: none
};

// Each runs until SIGTERM, SIGINT or the end of `for_ns`, and prints what was carried.

/// `connect`: the address of the serving side; empty: this is the serving side. Ends all
/// connections as agreed.
[[nodiscard]] Exit run_bridge(const bridge::BridgeConfig& config, const std::string& connect,
                              const SideOptions& options);

/// After SIGTERM clients connect again, else they do not. SIGHUP reads the keys again.
[[nodiscard]] Exit run_gateway(const gateway::GatewayConfig& config, const SideOptions& options);

[[nodiscard]] Exit run_kafka(const kafka::KafkaConfig& config, const SideOptions& options);

}  // namespace pinstrike::actors
