// path: cold
//
// The Prometheus endpoint: http://ADDRESS/metrics, answered by threads of its own, on the
// config's control_cpu. http://ADDRESS/latency has the latencies alone, with all their buckets, in
// the same format: for `pinstrike latency`, not to be scraped.
#pragma once

#include "actors/appliance.h"
#include "actors/log/log_counts.h"
#include "config/problem.h"

#include <memory>
#include <string>

namespace pinstrike::actors {

class MetricsEndpoint {
  public:
    /// Listens at `address`, "127.0.0.1:9464". Null, with a Problem, if it cannot. The appliance
    /// and the log's counters outlive the endpoint.
    [[nodiscard]] static std::unique_ptr<MetricsEndpoint> open(const std::string& address,
                                                               Appliance& appliance,
                                                               const LogCounters& log,
                                                               Problems& problems);
    ~MetricsEndpoint();

    MetricsEndpoint(const MetricsEndpoint&) = delete;
    MetricsEndpoint& operator=(const MetricsEndpoint&) = delete;

  private:
    struct Server;

    explicit MetricsEndpoint(std::unique_ptr<Server> server);

    std::unique_ptr<Server> server_;
};

}  // namespace pinstrike::actors
