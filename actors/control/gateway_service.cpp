// path: cold
#include "actors/control/gateway_service.h"

#include "actors/gateway/gateway.h"
#include "actors/host/service/service_manager.h"
#include "actors/telemetry/log/line_writer.h"
#include "actors/telemetry/log/log.h"
#include "actors/telemetry/metrics/gateway_metrics.h"
#include "actors/topology/machine.h"
#include "config/counter.h"
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
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

namespace pinstrike::actors {
namespace {

using gateway::Gateway;
using gateway::GatewayNote;
using gateway::SessionCount;

constexpr std::int64_t second_ns = 1'000'000'000;
constexpr std::int64_t turn_ns = 100'000'000;
constexpr const char* listener_name = "listener";

LogCode code_of(GatewayNote note) {
    constexpr std::array codes{LogCode::gateway_open,  LogCode::gateway_missed,
                               LogCode::session_begun, LogCode::login_refused,
                               LogCode::session_ended, LogCode::access_unlogged,
                               LogCode::feed_attached, LogCode::feed_lost,
                               LogCode::reloaded,      LogCode::reload_refused};
    return codes[static_cast<std::size_t>(note)];
}

/// Carries notes of the gateway's thread to the log, which this thread alone writes: a pipe that
/// nobody reads must not stop the gateway.
class Notes {
  public:
    void add(GatewayNote note, std::string subject, std::string sentence) {
        constexpr std::size_t entries_max = 10'000;
        const std::lock_guard lock{mutex_};
        if (note == GatewayNote::access_unlogged) {
            unlogged_.add();
        }
        if (entries_.size() < entries_max) {
            entries_.push_back({code_of(note), std::move(subject), std::move(sentence)});
        }
    }

    [[nodiscard]] std::deque<LogEntry> take() {
        const std::lock_guard lock{mutex_};
        return std::exchange(entries_, {});
    }

    /// Sessions that are missing in the access log.
    [[nodiscard]] std::uint64_t unlogged() const { return unlogged_.read(); }

  private:
    std::mutex mutex_;
    std::deque<LogEntry> entries_;
    Counter unlogged_;
};

class Service {
  public:
    Service(const gateway::GatewayConfig& config, const GatewayOptions& options)
        : config_(config),
          options_(options),
          writer_(STDERR_FILENO),
          log_({LogLevel::info, is_journal(STDERR_FILENO),
                [this](std::string_view line) { return writer_.write(line); },
                is_journal(STDERR_FILENO) ? &journal_.emplace() : nullptr}),
          gateway_(config, [this](GatewayNote note, std::string subject, std::string sentence) {
              notes_.add(note, std::move(subject), std::move(sentence));
          }) {}

    Exit run() {
        const sigset_t signals = block_signals();
        Problems problems;
        const int inherited = ServiceManager::kept_descriptor(listener_name);
        if (!gateway_.open(inherited, problems) || !open_metrics(problems)) {
            print_problems(problems);
            return exit_of(problems);
        }
        // A client connects again at once and only once, so its connection waits in this socket for
        // the next start.
        manager_.keep_descriptor(gateway_.listener(), listener_name);
        requests_.socket_is_kept = manager_.listens();
        std::thread thread{[this] { serve(); }};
        manager_.notify("READY=1");
        const int signal = wait_for_end(signals);
        manager_.notify("STOPPING=1");
        // Relaxed: the thread is joined before anything that it wrote is read.
        requests_.restarts.store(signal == SIGTERM, std::memory_order_relaxed);
        requests_.stop.store(true, std::memory_order_relaxed);
        thread.join();
        write_log();
        log_.finish();
        if (!failure_.empty()) {
            complain("{}", failure_);
            return Exit::failed;
        }
        return report();
    }

  private:
    static sigset_t block_signals() {
        sigset_t signals;
        ::sigemptyset(&signals);
        for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
            ::sigaddset(&signals, signal);
        }
        ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
        return signals;
    }

    bool open_metrics(Problems& problems) {
        if (config_.metrics_address.empty()) {
            return true;
        }
        const gateway::Endpoint at = gateway::endpoint_of(config_.metrics_address);
        Problem complaint;
        server_ = HttpServer::open(
            at.host, at.port, [this](const std::string& path) { return answer(path); }, complaint);
        if (server_ == nullptr) {
            add_problem(problems, "",
                        fmt::format("metrics_address: cannot listen at {}: {}",
                                    config_.metrics_address, complaint.text),
                        complaint.remedy);
            return false;
        }
        endpoint_.store(&server_->counters(), std::memory_order_release);
        return true;
    }

    [[nodiscard]] HttpAnswer answer(const std::string& path) const {
        if (path == "/metrics") {
            return {200, gateway_metrics_page(gateway_, log_.counters(), notes_.unlogged(),
                                              endpoint_.load(std::memory_order_acquire))};
        }
        if (path == "/healthz") {
            return is_healthy() ? HttpAnswer{200, "the gateway's thread advances\n"}
                                : HttpAnswer{503, "the gateway's thread does not advance\n"};
        }
        return {404, "/metrics and /healthz are here\n"};
    }

    [[nodiscard]] bool is_healthy() const {
        return wall_ns() - gateway_.status().stepped_ns < 2 * second_ns;
    }

    /// The gateway's thread. An exception (memory ran out) ends the program.
    void serve() {
        try {
            if (!place_this_thread(config_.cpu, "gateway")) {
                complain("remark: cpu: the system refused processor {}", config_.cpu);
            }
            gateway_.run(requests_);
        } catch (const std::exception& error) {
            failure_ = error.what();
            ended_.store(true, std::memory_order_release);
        }
    }

    /// Returns the signal that ends the service; 0: its time is over, or it failed.
    int wait_for_end(const sigset_t& signals) {
        const std::int64_t end_ns = options_.for_ns == 0 ? INT64_MAX : wall_ns() + options_.for_ns;
        const timespec turn{.tv_sec = 0, .tv_nsec = turn_ns};
        while (wall_ns() < end_ns && !ended_.load(std::memory_order_acquire)) {
            const int signal = ::sigtimedwait(&signals, nullptr, &turn);
            if (signal == SIGHUP) {
                requests_.reload.store(true, std::memory_order_relaxed);
            } else if (signal > 0) {
                return signal;
            }
            write_log();
            log_.step();
            tell_manager();
        }
        return 0;
    }

    void write_log() {
        for (const LogEntry& entry : notes_.take()) {
            log_.add(entry);
        }
    }

    void tell_manager() {
        if (is_healthy()) {
            const gateway::GatewayStatus status = gateway_.status();
            manager_.notify("WATCHDOG=1");
            manager_.notify(fmt::format(
                "STATUS={} sessions, feed {} {}, {} series", status.sessions, config_.feed,
                status.feed_live ? "live" : "not live", status.instruments));
        }
    }

    Exit report() {
        const auto& sessions = gateway_.clients().totals().ended;
        const auto records = sessions.read(SessionCount::records);
        const auto sent = sessions.read(SessionCount::sent);
        const auto skipped = sessions.read(SessionCount::skipped);
        const auto unsent = sessions.read(SessionCount::unsent);
        const auto events = [this](MarketCount which) { return gateway_.counters().read(which); };
        const bool balances = records == sent + skipped + unsent &&
                              events(MarketCount::read) == events(MarketCount::served) +
                                                               events(MarketCount::filtered) +
                                                               events(MarketCount::of_lines) +
                                                               events(MarketCount::without_id);
        if (!options_.account_file.empty()) {
            nlohmann::ordered_json account;
            for (std::size_t i = 0; i < MarketCount_rows.size(); ++i) {
                account["gateway"][std::string{MarketCount_rows[i].name}] =
                    events(static_cast<MarketCount>(i));
            }
            for (std::size_t i = 0; i < gateway::SessionCount_rows.size(); ++i) {
                account["sessions"][std::string{gateway::SessionCount_rows[i].name}] =
                    sessions.read(static_cast<SessionCount>(i));
            }
            const Histogram::Snapshot writes = gateway_.clients().totals().writes.snapshot();
            account["write"] = {{"records", writes.count},
                                {"p50_ns", writes.quantile_ns(0.5)},
                                {"p99_ns", writes.quantile_ns(0.99)},
                                {"p999_ns", writes.quantile_ns(0.999)}};
            account["balances"] = balances;
            if (!write_text(options_.account_file, account.dump(1) + '\n')) {
                return Exit::failed;
            }
        }
        fmt::print(
            "gateway of {}: {} events read = {} served + {} filtered + {} of lines + {} without "
            "id; {} records for clients = {} sent + {} skipped + {} unsent; {} sessions\n"
            "the account {}\n",
            config_.feed, grouped(events(MarketCount::read)), grouped(events(MarketCount::served)),
            grouped(events(MarketCount::filtered)), grouped(events(MarketCount::of_lines)),
            grouped(events(MarketCount::without_id)), grouped(records), grouped(sent),
            grouped(skipped), grouped(unsent), gateway_.clients().totals().endings.sum(),
            balances ? "balances" : "does not balance");
        return balances ? Exit::ok : Exit::failed;
    }

    const gateway::GatewayConfig& config_;
    const GatewayOptions& options_;
    ServiceManager manager_ = ServiceManager::of_environment();
    LineWriter writer_;
    std::optional<JournalWriter> journal_;
    Log log_;
    Notes notes_;
    Gateway gateway_;
    /// Null until the server listens, whose first request may come before open() knows it. Release
    /// and acquire: who sees the pointer sees the object.
    std::atomic<const EndpointCounters*> endpoint_ = nullptr;
    std::unique_ptr<HttpServer> server_;
    Gateway::Requests requests_;
    /// Release and acquire: who sees it sees `failure_`.
    std::atomic<bool> ended_ = false;
    std::string failure_;
};

}  // namespace

Exit run_gateway(const gateway::GatewayConfig& config, const GatewayOptions& options) {
    ::prctl(PR_SET_DUMPABLE, 0UL);  // a core dump would hold the keys
    for (const std::string& remark : gateway::gateway_remarks(config)) {
        complain("remark: {}", remark);
    }
    return Service{config, options}.run();
}

}  // namespace pinstrike::actors
