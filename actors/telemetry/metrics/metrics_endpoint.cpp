// path: cold
#include "actors/telemetry/metrics/metrics_endpoint.h"

#include "actors/telemetry/counter_snapshot.h"
#include "actors/telemetry/metrics/appliance_metrics.h"
#include "actors/topology/machine.h"
#include "config/units.h"

#include <fmt/format.h>
#include <prometheus/text_serializer.h>

#include <atomic>
#include <utility>

namespace pinstrike::actors {

std::string metrics_page(const CounterSnapshot& counters, const LogCounters& log,
                         const EndpointCounters* endpoint) {
    return prometheus::TextSerializer{}.Serialize(appliance_metrics(counters, log, endpoint));
}

/// What is answered.
struct MetricsEndpoint::Pages {
    Sources sources;
    /// Null until the server listens, whose first request may come before open() knows it. Release
    /// and acquire: who sees the pointer sees the object.
    std::atomic<const EndpointCounters*> counters = nullptr;

    [[nodiscard]] HttpAnswer answer(const std::string& path) const {
        if (path == "/metrics") {
            return {200, metrics_page(sources.take_snapshot(), sources.log,
                                      counters.load(std::memory_order_acquire))};
        }
        if (path == "/healthz") {
            return sources.healthy()
                       ? HttpAnswer{200, "all threads advance\n"}
                       : HttpAnswer{503, "a thread does not advance, or none runs yet\n"};
        }
        return {404, "/metrics and /healthz are here\n"};
    }
};

MetricsEndpoint::MetricsEndpoint(std::unique_ptr<Pages> pages) : pages_(std::move(pages)) {}

MetricsEndpoint::~MetricsEndpoint() = default;

std::unique_ptr<MetricsEndpoint> MetricsEndpoint::open(const std::string& address, Sources sources,
                                                       Problems& problems) {
    std::unique_ptr<MetricsEndpoint> endpoint(
        new MetricsEndpoint(std::unique_ptr<Pages>(new Pages{std::move(sources)})));
    Pages& pages = *endpoint->pages_;
    const std::size_t colon = address.rfind(':');
    const auto port = parse_integer(std::string_view{address}.substr(colon + 1)).value_or(0);
    Problem complaint;
    {
        const BoundToCpu control(pages.sources.cpu);  // the server's thread inherits it
        endpoint->server_ = HttpServer::open(
            address.substr(0, colon), static_cast<std::uint16_t>(port),
            [&pages](const std::string& path) { return pages.answer(path); }, complaint);
    }
    if (!endpoint->server_) {
        add_problem(
            problems, "",
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
