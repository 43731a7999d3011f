// path: cold
//
// The Prometheus endpoint: http://ADDRESS/metrics, answered by a thread of its own.
// http://ADDRESS/healthz: 200 while the process advances, else 503.
#pragma once

#include "actors/telemetry/counter_snapshot.h"
#include "actors/telemetry/log/log_counts.h"
#include "actors/telemetry/metrics/http_server.h"
#include "config/problem.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace pinstrike::actors {

/// The page /metrics of a feed. `endpoint`: null if there is none. Any cold thread.
[[nodiscard]] std::string metrics_page(const CounterSnapshot& counters, const LogCounters& log,
                                       const EndpointCounters* endpoint);

/// What an endpoint answers. Its thread calls these functions.
struct MetricsPages {
    std::function<std::string(const EndpointCounters& endpoint)> metrics;
    std::function<HttpAnswer()> health;
};

/// Listens at `address`, "127.0.0.1:9464", a valid metrics_address. Null, with a Problem that ends
/// with `hint`, if it cannot. What the pages read outlives the server.
[[nodiscard]] std::unique_ptr<HttpServer> serve_metrics(const std::string& address,
                                                        MetricsPages pages, std::string_view hint,
                                                        Problems& problems);

/// What the endpoint of a feed shows: every hot thread and the control thread are to advance.
struct FeedSources {
    std::function<CounterSnapshot()> take_snapshot;
    std::function<bool()> healthy;
    const LogCounters& log;
    CpuIndex cpu = -1;  ///< of the endpoint's thread
};

[[nodiscard]] std::unique_ptr<HttpServer> serve_feed_metrics(const std::string& address,
                                                             const FeedSources& sources,
                                                             Problems& problems);

}  // namespace pinstrike::actors
