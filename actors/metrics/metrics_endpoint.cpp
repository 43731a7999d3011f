// path: cold
#include "actors/metrics/metrics_endpoint.h"

#include "actors/machine.h"
#include "actors/metrics/appliance_metrics.h"
#include "actors/metrics/latency_metrics.h"

#include <fmt/format.h>
#include <prometheus/collectable.h>
#include <prometheus/exposer.h>

#include <exception>
#include <utility>

namespace pinstrike::actors {

namespace {

/// What the exposer asks at each scrape of /metrics.
class ApplianceCollectable final : public prometheus::Collectable {
  public:
    ApplianceCollectable(Appliance& appliance, const LogCounters& log)
        : appliance_(appliance), log_(log) {}

    [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override {
        return appliance_metrics(appliance_, log_);
    }

  private:
    Appliance& appliance_;
    const LogCounters& log_;
};

/// What it asks when /latency is read.
class LatencyCollectable final : public prometheus::Collectable {
  public:
    explicit LatencyCollectable(Appliance& appliance) : appliance_(appliance) {}

    [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override {
        return latency_metrics(read_latency(appliance_));
    }

  private:
    Appliance& appliance_;
};

}  // namespace

struct MetricsEndpoint::Server {
    static constexpr std::size_t threads_count = 1;

    Server(const std::string& address, Appliance& appliance, const LogCounters& log)
        : exposer(address, threads_count),
          collectable(std::make_shared<ApplianceCollectable>(appliance, log)),
          latency(std::make_shared<LatencyCollectable>(appliance)) {
        exposer.RegisterCollectable(collectable);
        exposer.RegisterCollectable(latency, "/latency");
    }

    prometheus::Exposer exposer;
    std::shared_ptr<ApplianceCollectable> collectable;  ///< the exposer holds both weakly
    std::shared_ptr<LatencyCollectable> latency;
};

MetricsEndpoint::MetricsEndpoint(std::unique_ptr<Server> server) : server_(std::move(server)) {}

MetricsEndpoint::~MetricsEndpoint() = default;

std::unique_ptr<MetricsEndpoint> MetricsEndpoint::open(const std::string& address,
                                                       Appliance& appliance, const LogCounters& log,
                                                       Problems& problems) {
    try {
        // The server's threads inherit it.
        const BoundToCpu control(appliance.config().control_cpu);
        return std::unique_ptr<MetricsEndpoint>(
            new MetricsEndpoint(std::make_unique<Server>(address, appliance, log)));
    } catch (const std::exception&) {
        // The library says no more than "null context": which address, and what may be wrong.
        Problem problem;
        problem.text = fmt::format(
            "metrics_address: cannot listen at {}: is it an address of this host, is the port free "
            "(ss -ltnp), and above 1023 or allowed to this user?",
            address);
        problems.push_back(std::move(problem));
        return nullptr;
    }
}

}  // namespace pinstrike::actors
