// path: cold
#pragma once

#include "actors/gateway/gateway.h"
#include "actors/telemetry/log/log_counts.h"
#include "actors/telemetry/metrics/http_server.h"

#include <cstdint>
#include <string>

namespace pinstrike::actors {

/// The page /metrics of a gateway. `unlogged`: sessions that are missing in its access log;
/// `endpoint`: null if there is none. Any thread.
[[nodiscard]] std::string gateway_metrics_page(const gateway::Gateway& gateway,
                                               const LogCounters& log, std::uint64_t unlogged,
                                               const EndpointCounters* endpoint);

}  // namespace pinstrike::actors
