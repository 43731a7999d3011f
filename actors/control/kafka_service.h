// path: cold
//
// Runs a Kafka producer: its thread, and beside it the signals, the log, the metrics endpoint and
// systemd.
#pragma once

#include "actors/kafka/kafka_config.h"
#include "config/problem.h"

#include <cstdint>
#include <string>

namespace pinstrike::actors {

struct KafkaOptions {
    std::int64_t for_ns = 0;   ///< 0: until a signal
    std::string account_file;  ///< JSON at the end; empty: none
};

/// Runs until SIGTERM, SIGINT or the end of `for_ns`, and prints what became of the records.
[[nodiscard]] Exit run_kafka(const kafka::KafkaConfig& config, const KafkaOptions& options);

}  // namespace pinstrike::actors
