// path: cold
#include "actors/telemetry/metrics/metrics_endpoint.h"

#include "actors/appliance/appliance.h"
#include "actors/telemetry/counter_snapshot.h"
#include "actors/telemetry/latency/reading.h"
#include "actors/telemetry/metrics/appliance_metrics.h"
#include "actors/telemetry/metrics/families.h"
#include "actors/telemetry/metrics/fetch.h"
#include "actors/telemetry/metrics/http_server.h"
#include "actors/telemetry/metrics/latency_metrics.h"
#include "actors/topology/machine.h"

#include <fmt/format.h>
#include <prometheus/text_serializer.h>

#include <atomic>
#include <iterator>
#include <utility>

namespace pinstrike::actors {

/// The answers to requests.
struct MetricsEndpoint::Pages {
    Appliance& appliance;
    const LogCounters& log;
    std::function<bool()> healthy;
    /// Null until open() has stored it; the first request may come earlier. Release and acquire
    /// order: a thread that reads the pointer sees the object.
    std::atomic<const EndpointCounters*> counters = nullptr;

    [[nodiscard]] HttpAnswer answer(const std::string& path) const {
        const prometheus::TextSerializer text;
        if (path == "/metrics") {
            return {200, text.Serialize(metrics())};
        }
        if (path == "/latency") {
            return {200,
                    text.Serialize(latency_metrics(latency_of(take_counter_snapshot(appliance))))};
        }
        if (path == "/healthz") {
            return healthy() ? HttpAnswer{200, "all threads advance\n"}
                             : HttpAnswer{503, "a thread does not advance, or none runs yet\n"};
        }
        return {404, "/metrics, /latency and /healthz are here\n"};
    }

    [[nodiscard]] std::vector<prometheus::MetricFamily> metrics() const {
        auto families = appliance_metrics(appliance, log);
        if (const auto* own = counters.load(std::memory_order_acquire)) {
            Families out(appliance.config().name);
            for (std::size_t i = 0; i < EndpointCount_rows.size(); ++i) {
                out.row("endpoint", EndpointCount_rows[i], {},
                        own->read(static_cast<EndpointCount>(i)));
            }
            std::ranges::move(out.take(), std::back_inserter(families));
        }
        return families;
    }
};

MetricsEndpoint::MetricsEndpoint(std::unique_ptr<Pages> pages) : pages_(std::move(pages)) {}

MetricsEndpoint::~MetricsEndpoint() = default;

std::unique_ptr<MetricsEndpoint> MetricsEndpoint::open(const std::string& address,
                                                       Appliance& appliance, const LogCounters& log,
                                                       std::function<bool()> healthy,
                                                       Problems& problems) {
    std::unique_ptr<MetricsEndpoint> endpoint(
        new MetricsEndpoint(std::unique_ptr<Pages>(new Pages{appliance, log, std::move(healthy)})));
    Pages& pages = *endpoint->pages_;
    Problem complaint;
    if (const auto at = parse_http_address(address, complaint.text)) {
        const BoundToCpu control(
            appliance.config().control_cpu);  // the server's thread inherits it
        endpoint->server_ = HttpServer::open(
            at->host, at->port, [&pages](const std::string& path) { return pages.answer(path); },
            complaint);
    }
    if (!endpoint->server_) {
        tell(problems, "",
             fmt::format("metrics_address: cannot listen at {}: {}: is it an address of this host, "
                         "is the port free (ss -ltnp), and above 1023 or allowed to this user?",
                         address, complaint.text),
             complaint.remedy);
        return nullptr;
    }
    pages.counters.store(&endpoint->server_->counters(), std::memory_order_release);
    return endpoint;
}

}  // namespace pinstrike::actors
