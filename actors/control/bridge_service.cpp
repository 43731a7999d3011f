// path: cold
#include "actors/control/bridge_service.h"

#include "actors/bridge/bridge_client.h"
#include "actors/bridge/bridge_server.h"
#include "actors/gateway/gateway_config.h"
#include "actors/host/service/service_manager.h"
#include "actors/telemetry/log/line_writer.h"
#include "actors/telemetry/log/log.h"
#include "actors/telemetry/metrics/bridge_metrics.h"
#include "actors/topology/machine.h"
#include "config/output_file.h"
#include "config/print_problems.h"
#include "config/units.h"
#include "config/wall_time.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <ctime>
#include <memory>
#include <optional>
#include <utility>

namespace pinstrike::actors {
namespace {

using bridge::BridgeClient;
using bridge::BridgeNote;
using bridge::BridgeServer;
using bridge::JoinCount;
using bridge::ServeCount;

constexpr std::int64_t second_ns = 1'000'000'000;
constexpr std::int64_t housekeeping_ns = 50'000'000;

LogCode code_of(BridgeNote note) {
    constexpr std::array codes{LogCode::bridge_open,    LogCode::bridge_up,
                               LogCode::bridge_down,    LogCode::bridge_left,
                               LogCode::bridge_refused, LogCode::bridge_state,
                               LogCode::bridge_missed,  LogCode::bridge_feed};
    return codes[static_cast<std::size_t>(note)];
}

class Service {
  public:
    Service(const bridge::BridgeConfig& config, const BridgeOptions& options)
        : config_(config),
          options_(options),
          writer_(STDERR_FILENO),
          log_({LogLevel::info, is_journal(STDERR_FILENO),
                [this](std::string_view line) { return writer_.write(line); },
                is_journal(STDERR_FILENO) ? &journal_.emplace() : nullptr}) {
        const auto note = [this](BridgeNote what, const std::string& subject,
                                 const std::string& sentence) {
            log_.add({code_of(what), subject, sentence});
        };
        if (options.connect.empty()) {
            server_.emplace(config.feed, config.connections_max, note);
        } else {
            client_.emplace(bridge::join_config_of(config), note);
        }
    }

    Exit run() {
        const sigset_t signals = block_signals();
        Problems problems;
        if (!open(problems)) {
            print_problems(problems);
            return exit_of(problems);
        }
        if (!place_this_thread(config_.cpu, "bridge")) {
            complain("remark: cpu: the system refused processor {}", config_.cpu);
        }
        manager_.notify("READY=1");
        serve(signals);
        manager_.notify("STOPPING=1");
        end();
        log_.finish();
        return report();
    }

  private:
    static sigset_t block_signals() {
        std::signal(SIGPIPE, SIG_IGN);
        sigset_t signals;
        ::sigemptyset(&signals);
        for (const int signal : {SIGTERM, SIGINT}) {
            ::sigaddset(&signals, signal);
        }
        ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
        return signals;
    }

    bool open(Problems& problems) {
        const bool opened = server_ ? server_->open(config_.listen, config_.tls, problems)
                                    : client_->open(options_.connect, config_.tls, problems);
        return opened && open_metrics(problems);
    }

    bool open_metrics(Problems& problems) {
        if (config_.metrics_address.empty()) {
            return true;
        }
        const gateway::Endpoint at = gateway::endpoint_of(config_.metrics_address);
        Problem complaint;
        http_ = HttpServer::open(
            at.host, at.port, [this](const std::string& path) { return answer(path); }, complaint);
        if (http_ == nullptr) {
            add_problem(problems, "",
                        fmt::format("metrics_address: cannot listen at {}: {}",
                                    config_.metrics_address, complaint.text),
                        complaint.remedy);
        }
        return http_ != nullptr;
    }

    [[nodiscard]] HttpAnswer answer(const std::string& path) const {
        const std::int64_t stalled_ns =
            wall_ns() - stepped_ns_.load(std::memory_order_relaxed);  // relaxed: a time alone
        if (path == "/metrics") {
            return {200, bridge_metrics_page({.feed = config_.feed,
                                              .server = server_ ? &*server_ : nullptr,
                                              .client = client_ ? &*client_ : nullptr,
                                              .stalled_ns = stalled_ns,
                                              .log = log_.counters()})};
        }
        if (path == "/healthz") {
            return stalled_ns < 2 * second_ns
                       ? HttpAnswer{200, "the bridge's thread advances\n"}
                       : HttpAnswer{503, "the bridge's thread does not advance\n"};
        }
        return {404, "/metrics and /healthz are here\n"};
    }

    std::size_t step(std::int64_t now_ns) {
        return server_ ? server_->step(now_ns) : client_->step(now_ns);
    }

    /// An idle thread looks for events a few thousand times a second: those of a feed come in
    /// memory, which wakes nobody here.
    void rest() {
        constexpr std::int64_t nap_ns = 200'000;
        constexpr std::int64_t long_nap_ns = 5'000'000;
        if (config_.wait == WaitStrategy::spin) {
            return;
        }
        if (server_) {
            server_->wait(server_->connections() == 0 ? long_nap_ns : nap_ns);
        } else {
            client_->wait(1'000'000);
        }
    }

    void serve(const sigset_t& signals) {
        const std::int64_t end_ns = options_.for_ns == 0 ? INT64_MAX : wall_ns() + options_.for_ns;
        std::int64_t due_ns = 0;
        while (true) {
            const std::int64_t now_ns = wall_ns();
            if (now_ns >= due_ns || due_ns > now_ns + housekeeping_ns) {
                due_ns = now_ns + housekeeping_ns;
                const timespec at_once{};
                if (::sigtimedwait(&signals, nullptr, &at_once) > 0 || now_ns >= end_ns) {
                    return;
                }
                keep_house(now_ns);
            }
            if (step(now_ns) == 0) {
                rest();
            }
        }
    }

    void keep_house(std::int64_t now_ns) {
        // Relaxed: no data depends on the time.
        stepped_ns_.store(now_ns, std::memory_order_relaxed);
        log_.step();
        manager_.notify("WATCHDOG=1");
        manager_.notify(server_
                            ? fmt::format("STATUS={} joined, {} current",
                                          server_->open_connections(), server_->current())
                            : fmt::format("STATUS={} {}", config_.feed,
                                          client_->is_live() ? "is published" : "has no state"));
    }

    void end() {
        server_ ? server_->leave() : client_->leave();
        while (server_ ? server_->connections() != 0 : !client_->is_over()) {
            if (step(wall_ns()) == 0) {
                rest();
            }
        }
    }

    template <class Count, class Counts, class Rows>
    static nlohmann::ordered_json rows_of(const Counts& counters, const Rows& rows) {
        nlohmann::ordered_json values;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            values[std::string{rows[i].name}] = counters.read(static_cast<Count>(i));
        }
        return values;
    }

    Exit report() {
        nlohmann::ordered_json account;
        const bool balances = server_ ? report_server(account) : report_client(account);
        account["balances"] = balances;
        if (!options_.account_file.empty() &&
            !write_text(options_.account_file, account.dump(1) + '\n')) {
            return Exit::failed;
        }
        fmt::print("the account {}\n", balances ? "balances" : "does not balance");
        return balances ? Exit::ok : Exit::failed;
    }

    bool report_server(nlohmann::ordered_json& account) {
        const auto read = [this](ServeCount which) { return server_->counters().read(which); };
        account["serve"] = rows_of<ServeCount>(server_->counters(), bridge::ServeCount_rows);
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
        account["join"] = rows_of<JoinCount>(client_->counters(), bridge::JoinCount_rows);
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
    const BridgeOptions& options_;
    ServiceManager manager_ = ServiceManager::of_environment();
    LineWriter writer_;
    std::optional<JournalWriter> journal_;
    Log log_;
    std::optional<BridgeServer> server_;
    std::optional<BridgeClient> client_;
    std::atomic<std::int64_t> stepped_ns_{0};
    std::unique_ptr<HttpServer> http_;
};

}  // namespace

Exit run_bridge(const bridge::BridgeConfig& config, const BridgeOptions& options) {
    ::prctl(PR_SET_DUMPABLE, 0UL);  // a core dump would hold the keys
    return Service{config, options}.run();
}

}  // namespace pinstrike::actors
