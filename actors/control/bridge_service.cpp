// path: cold
#include "actors/bridge/bridge_client.h"
#include "actors/bridge/bridge_server.h"
#include "actors/control/side_account.h"
#include "actors/control/side_process.h"
#include "actors/control/side_services.h"
#include "actors/runtime/executor_thread.h"
#include "actors/telemetry/metrics/bridge_metrics.h"
#include "config/print_problems.h"
#include "config/units.h"
#include "config/wall_time.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/prctl.h>

#include <array>
#include <atomic>
#include <optional>
#include <string>

namespace pinstrike::actors {
namespace {

using bridge::BridgeClient;
using bridge::BridgeNote;
using bridge::BridgeServer;
using bridge::JoinCount;
using bridge::ServeCount;

LogCode code_of(BridgeNote note) {
    constexpr std::array codes{LogCode::bridge_open,    LogCode::bridge_up,
                               LogCode::bridge_down,    LogCode::bridge_left,
                               LogCode::bridge_refused, LogCode::bridge_state,
                               LogCode::bridge_missed,  LogCode::bridge_feed};
    return codes[static_cast<std::size_t>(note)];
}

class BridgeService final : public SideProcess {
  public:
    BridgeService(const bridge::BridgeConfig& config, const std::string& connect,
                  const SideOptions& options)
        : SideProcess("bridge", config.cpu, config.metrics_address, options.for_ns),
          config_(config),
          connect_(connect),
          options_(options) {
        const auto note = [this](BridgeNote what, const std::string& subject,
                                 const std::string& sentence) {
            log(code_of(what), subject, sentence);
        };
        if (connect.empty()) {
            server_.emplace(config.feed, config.connections_max, note);
        } else {
            client_.emplace(bridge::join_config_of(config), note);
        }
    }

    Exit run() {
        Problems problems;
        const bool opened = server_ ? server_->open(config_.listen, config_.tls, problems)
                                    : client_->open(connect_, config_.tls, problems);
        if (!opened || !open(problems)) {
            print_problems(problems);
            return exit_of(problems);
        }
        const Exit ended = run_thread();
        const Exit reported = report();
        return ended == Exit::ok ? reported : ended;
    }

  private:
    std::string metrics(const LogCounters& log, const EndpointCounters* endpoint) override {
        return bridge_metrics_page({.feed = config_.feed,
                                    .server = server_ ? &*server_ : nullptr,
                                    .client = client_ ? &*client_ : nullptr,
                                    .stepped_ns = stepped_ns(),
                                    .log = log,
                                    .endpoint = endpoint});
    }

    /// Relaxed: no data depends on the time.
    [[nodiscard]] std::int64_t stepped_ns() const override {
        return stepped_ns_.load(std::memory_order_relaxed);
    }

    [[nodiscard]] std::string status() const override {
        return server_ ? fmt::format("{} joined, {} current", server_->open_connections(),
                                     server_->current())
                       : fmt::format("{} {}", config_.feed,
                                     client_->is_live() ? "is published" : "has no state");
    }

    /// Relaxed: the thread is joined before anything that it wrote is read.
    void stop(int /*signal*/) override { stop_.store(true, std::memory_order_relaxed); }

    std::string serve() override {
        while (!stop_.load(std::memory_order_relaxed)) {
            step();
        }
        server_ ? server_->leave() : client_->leave();
        while (server_ ? server_->connections() != 0 : !client_->is_over()) {
            step();
        }
        return {};
    }

    void step() {
        stepped_ns_.store(wall_ns(), std::memory_order_relaxed);
        const std::int64_t now_ns = runtime::steady_ns();
        const std::size_t done = server_ ? server_->step(now_ns) : client_->step(now_ns);
        if (done == 0 && config_.wait == WaitStrategy::park) {
            rest();
        }
    }

    /// An idle thread looks for events a few thousand times a second: those of a feed come in
    /// memory, which wakes nobody here.
    void rest() {
        constexpr std::int64_t nap_ns = 200'000;
        constexpr std::int64_t long_nap_ns = 5'000'000;
        if (server_) {
            server_->wait(server_->connections() == 0 ? long_nap_ns : nap_ns);
        } else {
            client_->wait(1'000'000);
        }
    }

    Exit report() {
        nlohmann::ordered_json account;
        const bool balances = server_ ? report_server(account) : report_client(account);
        return report_account(options_, std::move(account), balances, "");
    }

    bool report_server(nlohmann::ordered_json& account) {
        const auto read = [this](ServeCount which) { return server_->counters().read(which); };
        account["serve"] = counts_json(server_->counters());
        fmt::print(
            "bridge serving {}: {} records read = {} sent + {} filtered; {} missed; "
            "{} connections = {} left + {} refused + {} down\n",
            config_.feed, grouped(read(ServeCount::read)), grouped(read(ServeCount::sent)),
            grouped(read(ServeCount::filtered)), grouped(read(ServeCount::missed)),
            grouped(read(ServeCount::connections)), grouped(read(ServeCount::left)),
            grouped(read(ServeCount::refused)), grouped(read(ServeCount::downs)));
        return read(ServeCount::read) == read(ServeCount::sent) + read(ServeCount::filtered) &&
               read(ServeCount::connections) ==
                   read(ServeCount::left) + read(ServeCount::refused) + read(ServeCount::downs);
    }

    bool report_client(nlohmann::ordered_json& account) {
        const auto read = [this](JoinCount which) { return client_->counters().read(which); };
        account["join"] = counts_json(client_->counters());
        account["join"]["open_lines"] = client_->open_lines();
        account["lines"] = nlohmann::ordered_json::array();
        client_->joiner().carried().for_each_line(
            [&](std::size_t core, std::uint16_t line, const bridge::LineNumbers::Line& numbers) {
                account["lines"].push_back({{"core", core},
                                            {"line", line},
                                            {"first", numbers.first},
                                            {"last", numbers.last},
                                            {"carried", numbers.carried},
                                            {"lost", numbers.lost}});
            });
        fmt::print(
            "bridge joining as {}: {} records written there = {} published here + {} "
            "filtered + {} not carried; {} gaps of {} numbers; {} connections = {} left + "
            "{} refused + {} down\n",
            config_.feed, grouped(read(JoinCount::passed)), grouped(read(JoinCount::published)),
            grouped(read(JoinCount::left_out)), grouped(read(JoinCount::missed)),
            grouped(read(JoinCount::gaps)), grouped(read(JoinCount::gap_numbers)),
            grouped(read(JoinCount::connections)), grouped(read(JoinCount::left)),
            grouped(read(JoinCount::refused)), grouped(read(JoinCount::downs)));
        return client_->joiner().carried().balances();
    }

    const bridge::BridgeConfig& config_;
    const std::string& connect_;
    const SideOptions& options_;
    std::optional<BridgeServer> server_;
    std::optional<BridgeClient> client_;
    std::atomic<std::int64_t> stepped_ns_ = wall_ns();
    std::atomic<bool> stop_ = false;
};

}  // namespace

Exit run_bridge(const bridge::BridgeConfig& config, const std::string& connect,
                const SideOptions& options) {
    ::prctl(PR_SET_DUMPABLE, 0UL);  // a core dump would hold the keys
    return BridgeService{config, connect, options}.run();
}

}  // namespace pinstrike::actors
