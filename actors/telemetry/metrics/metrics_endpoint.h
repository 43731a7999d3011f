// path: cold
//
// The Prometheus endpoint: http://ADDRESS/metrics. Its own thread on the config's control_cpu
// answers. http://ADDRESS/latency has only the latencies, with all their buckets, in the same
// format; it is for `pinstrike latency`, not for scraping. http://ADDRESS/healthz returns 200 while
// the control thread and every hot thread make progress, else 503.
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
    /// Listens at `address`, such as "127.0.0.1:9464". Null, with a Problem, if it cannot. The
    /// appliance, the log's counters and the data that `healthy` reads must outlive the endpoint.
    /// Its thread calls `healthy`.
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
