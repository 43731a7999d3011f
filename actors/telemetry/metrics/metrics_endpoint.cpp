// path: cold
#include "actors/telemetry/metrics/metrics_endpoint.h"

#include "actors/telemetry/metrics/appliance_metrics.h"
#include "actors/topology/machine.h"
#include "config/units.h"

#include <fmt/format.h>
#include <prometheus/text_serializer.h>

#include <utility>

namespace pinstrike::actors {

std::string metrics_page(const CounterSnapshot& counters, const LogCounters& log,
                         const EndpointCounters* endpoint) {
    return prometheus::TextSerializer{}.Serialize(appliance_metrics(counters, log, endpoint));
}

std::unique_ptr<HttpServer> serve_metrics(const std::string& address, MetricsPages pages,
                                          std::string_view hint, Problems& problems) {
    const std::size_t colon = address.rfind(':');
    const auto port = parse_integer(std::string_view{address}.substr(colon + 1)).value_or(0);
    Problem complaint;
    auto server = HttpServer::open(
        address.substr(0, colon), static_cast<std::uint16_t>(port),
        [pages = std::move(pages)](const std::string& path, const EndpointCounters& counters) {
            return path == "/metrics"   ? HttpAnswer{200, pages.metrics(counters)}
                   : path == "/healthz" ? pages.health()
                                        : HttpAnswer{404, "/metrics and /healthz are here\n"};
        },
        complaint);
    if (server == nullptr) {
        add_problem(problems, "",
                    fmt::format("metrics_address: cannot listen at {}: {}{}", address,
                                complaint.text, hint),
                    complaint.remedy);
    }
    return server;
}

std::unique_ptr<HttpServer> serve_feed_metrics(const std::string& address,
                                               const FeedSources& sources, Problems& problems) {
    const BoundToCpu control(sources.cpu);  // the server's thread inherits it
    return serve_metrics(
        address,
        {[sources](const EndpointCounters& endpoint) {
             return metrics_page(sources.take_snapshot(), sources.log, &endpoint);
         },
         [sources] {
             return sources.healthy()
                        ? HttpAnswer{200, "all threads advance\n"}
                        : HttpAnswer{503, "a thread does not advance, or none runs yet\n"};
         }},
        ": is it an address of this host, is the port free (ss -ltnp), and above 1023 or allowed "
        "to "
        "this user?",
        problems);
}

}  // namespace pinstrike::actors
