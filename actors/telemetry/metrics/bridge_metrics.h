// path: cold
#pragma once

#include "actors/bridge/bridge_client.h"
#include "actors/bridge/bridge_server.h"
#include "actors/telemetry/log/log_counts.h"
#include "actors/telemetry/metrics/http_server.h"

#include <cstdint>
#include <string>

namespace pinstrike::actors {

/// One side of a bridge: the other pointer is null.
struct BridgeFigures {
    const std::string& feed;
    const bridge::BridgeServer* server;
    const bridge::BridgeClient* client;
    std::int64_t stepped_ns;
    const LogCounters& log;
    const EndpointCounters* endpoint;
};

/// The page /metrics of a bridge. Any thread.
[[nodiscard]] std::string bridge_metrics_page(const BridgeFigures& figures);

}  // namespace pinstrike::actors
