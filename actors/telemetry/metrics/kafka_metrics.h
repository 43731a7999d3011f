// path: cold
#pragma once

#include "actors/kafka/kafka_process.h"
#include "actors/telemetry/log/log_counts.h"
#include "actors/telemetry/metrics/http_server.h"

#include <string>

namespace pinstrike::actors {

/// The page /metrics of a Kafka producer. `endpoint`: null if there is none. Any thread.
[[nodiscard]] std::string kafka_metrics_page(const kafka::KafkaProcess& process,
                                             const LogCounters& log,
                                             const EndpointCounters* endpoint);

}  // namespace pinstrike::actors
