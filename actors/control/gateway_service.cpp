// path: cold
#include "actors/control/side_account.h"
#include "actors/control/side_process.h"
#include "actors/control/side_services.h"
#include "actors/gateway/gateway.h"
#include "actors/telemetry/metrics/gateway_metrics.h"
#include "config/counter.h"
#include "config/print_problems.h"
#include "config/units.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/prctl.h>

#include <array>
#include <atomic>
#include <csignal>
#include <utility>

namespace pinstrike::actors {
namespace {

using gateway::Gateway;
using gateway::GatewayNote;
using gateway::SessionCount;

constexpr const char* listener_name = "listener";

LogCode code_of(GatewayNote note) {
    constexpr std::array codes{LogCode::gateway_open,  LogCode::gateway_missed,
                               LogCode::session_begun, LogCode::login_refused,
                               LogCode::session_ended, LogCode::access_unlogged,
                               LogCode::feed_attached, LogCode::feed_lost,
                               LogCode::reloaded,      LogCode::reload_refused};
    return codes[static_cast<std::size_t>(note)];
}

class Service final : public SideProcess {
  public:
    Service(const gateway::GatewayConfig& config, const SideOptions& options)
        : SideProcess("gateway", config.cpu, config.metrics_address, options.for_ns),
          config_(config),
          options_(options),
          gateway_(config, [this](GatewayNote note, std::string subject, std::string sentence) {
              unlogged_.add(note == GatewayNote::access_unlogged ? 1 : 0);
              log(code_of(note), std::move(subject), std::move(sentence));
          }) {}

    Exit run() {
        Problems problems;
        const int inherited = ServiceManager::kept_descriptor(listener_name);
        if (!gateway_.open(inherited, problems) || !open(problems)) {
            print_problems(problems);
            return exit_of(problems);
        }
        // A client connects again at once and only once, so its connection waits in this socket for
        // the next start.
        manager().keep_descriptor(gateway_.listener(), listener_name);
        requests_.socket_is_kept = manager().listens();
        const Exit ended = run_thread();
        return ended == Exit::ok ? report() : ended;
    }

  private:
    std::string metrics(const LogCounters& log, const EndpointCounters* endpoint) override {
        return gateway_metrics_page(gateway_, log, unlogged_.read(), endpoint);
    }

    [[nodiscard]] std::int64_t stepped_ns() const override { return gateway_.status().stepped_ns; }

    [[nodiscard]] std::string status() const override {
        const gateway::GatewayStatus status = gateway_.status();
        return fmt::format("{} sessions, feed {} {}, {} series", status.sessions, config_.feed,
                           status.feed_live ? "live" : "not live", status.instruments);
    }

    void reload() override { requests_.reload.store(true, std::memory_order_relaxed); }

    void stop(int signal) override {
        // Relaxed: the thread is joined before anything that it wrote is read.
        requests_.restarts.store(signal == SIGTERM, std::memory_order_relaxed);
        requests_.stop.store(true, std::memory_order_relaxed);
    }

    std::string serve() override {
        gateway_.run(requests_);
        return {};
    }

    Exit report() {
        const auto& sessions = gateway_.clients().totals().ended;
        const auto records = sessions.read(SessionCount::records);
        const auto sent = sessions.read(SessionCount::sent);
        const auto skipped = sessions.read(SessionCount::skipped);
        const auto unsent = sessions.read(SessionCount::unsent);
        nlohmann::ordered_json account;
        account["gateway"] = counts_json(gateway_.counters());
        account["sessions"] = counts_json(sessions);
        account["write"] = times_json("records", gateway_.clients().totals().writes);
        return report_account(
            options_, std::move(account),
            records == sent + skipped + unsent && events_balance(gateway_.counters()),
            fmt::format("gateway of {}: {}; {} records for clients = {} sent + {} skipped + {} "
                        "unsent; {} sessions\n",
                        config_.feed, events_text(gateway_.counters()), grouped(records),
                        grouped(sent), grouped(skipped), grouped(unsent),
                        gateway_.clients().totals().endings.sum()));
    }

    const gateway::GatewayConfig& config_;
    const SideOptions& options_;
    Counter unlogged_;  ///< sessions that are missing in the access log
    Gateway gateway_;
    Gateway::Requests requests_;
};

}  // namespace

Exit run_gateway(const gateway::GatewayConfig& config, const SideOptions& options) {
    ::prctl(PR_SET_DUMPABLE, 0UL);  // a core dump would hold the keys
    for (const std::string& remark : gateway::gateway_remarks(config)) {
        complain("remark: {}", remark);
    }
    return Service{config, options}.run();
}

}  // namespace pinstrike::actors
