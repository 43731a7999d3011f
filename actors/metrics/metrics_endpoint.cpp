// path: cold
#include "actors/metrics/metrics_endpoint.h"

#include "actors/machine.h"
#include "actors/metrics/appliance_metrics.h"

#include <fmt/format.h>
#include <prometheus/collectable.h>
#include <prometheus/exposer.h>

#include <exception>
#include <utility>

namespace pinstrike::actors {

namespace {

/// What the exposer asks at each scrape.
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

}  // namespace

struct MetricsEndpoint::Server {
    static constexpr std::size_t threads_count = 1;

    Server(const std::string& address, Appliance& appliance, const LogCounters& log)
        : exposer(address, threads_count),
          collectable(std::make_shared<ApplianceCollectable>(appliance, log)) {
        exposer.RegisterCollectable(collectable);
    }

    prometheus::Exposer exposer;
    std::shared_ptr<ApplianceCollectable> collectable;  ///< the exposer holds it weakly
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
