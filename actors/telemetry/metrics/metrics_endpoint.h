// path: cold
//
// The Prometheus endpoint: http://ADDRESS/metrics, answered by a thread of its own, on the
// config's control_cpu. http://ADDRESS/latency has the latencies alone, with all their buckets, in
// the same format: for `pinstrike latency`, not to be scraped. http://ADDRESS/healthz: 200 while
// the control thread and every hot thread advance, else 503.
#pragma once

#include "actors/telemetry/log/log_counts.h"
#include "config/problem.h"

#include <functional>
#include <memory>
#include <string>

namespace pinstrike::actors {

class Appliance;

class HttpServer;

class MetricsEndpoint {
  public:
    /// Listens at `address`, "127.0.0.1:9464". Null, with a Problem, if it cannot. The appliance
    /// and the log's counters outlive the endpoint, as does what `healthy` asks, by its thread.
    [[nodiscard]] static std::unique_ptr<MetricsEndpoint> open(const std::string& address,
                                                               Appliance& appliance,
                                                               const LogCounters& log,
                                                               std::function<bool()> healthy,
                                                               Problems& problems);
    ~MetricsEndpoint();

    MetricsEndpoint(const MetricsEndpoint&) = delete;
    MetricsEndpoint& operator=(const MetricsEndpoint&) = delete;

  private:
    struct Pages;

    explicit MetricsEndpoint(std::unique_ptr<Pages> pages);

    std::unique_ptr<Pages> pages_;
    std::unique_ptr<HttpServer> server_;
};

}  // namespace pinstrike::actors
