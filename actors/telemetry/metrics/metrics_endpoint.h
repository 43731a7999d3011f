// path: cold
//
// The Prometheus endpoint: http://ADDRESS/metrics, answered by a thread of its own, on the
// config's control_cpu. http://ADDRESS/healthz: 200 while the control thread and every hot thread
// advance, else 503.
#pragma once

#include "actors/telemetry/counter_snapshot.h"
#include "actors/telemetry/log/log_counts.h"
#include "actors/telemetry/metrics/http_server.h"
#include "config/problem.h"

#include <functional>
#include <memory>
#include <string>

namespace pinstrike::actors {

/// The page /metrics. `endpoint`: null if there is none. Any cold thread.
[[nodiscard]] std::string metrics_page(const CounterSnapshot& counters, const LogCounters& log,
                                       const EndpointCounters* endpoint);

class MetricsEndpoint {
  public:
    /// What the endpoint shows. Its thread calls both functions, on processor `cpu`.
    struct Sources {
        std::function<CounterSnapshot()> take_snapshot;
        std::function<bool()> healthy;
        const LogCounters& log;
        CpuIndex cpu = -1;
    };

    /// Listens at `address`, "127.0.0.1:9464", a valid metrics_address. Null, with a Problem, if it
    /// cannot. What the sources read outlives the endpoint.
    [[nodiscard]] static std::unique_ptr<MetricsEndpoint> open(const std::string& address,
                                                               Sources sources, Problems& problems);
    ~MetricsEndpoint();

    MetricsEndpoint(const MetricsEndpoint&) = delete;
    MetricsEndpoint& operator=(const MetricsEndpoint&) = delete;

    [[nodiscard]] const EndpointCounters& counters() const { return server_->counters(); }

  private:
    struct Pages;

    explicit MetricsEndpoint(std::unique_ptr<Pages> pages);

    std::unique_ptr<Pages> pages_;
    std::unique_ptr<HttpServer> server_;
};

}  // namespace pinstrike::actors
