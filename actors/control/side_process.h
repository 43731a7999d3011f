// path: cold
//
// What a process beside a feed (a gateway, a bridge, a Kafka producer) has around its one thread:
// signals, log, metrics endpoint and systemd.
#pragma once

#include "actors/host/service/service_manager.h"
#include "actors/telemetry/log/line_writer.h"
#include "actors/telemetry/log/log.h"
#include "actors/telemetry/metrics/http_server.h"
#include "actors/topology/machine.h"
#include "config/problem.h"

#include <atomic>
#include <csignal>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace pinstrike::actors {

/// The process's own parts. `metrics`, `stepped_ns` and `status` are called by other threads than
/// `serve`.
struct SideParts {
    std::string name;  ///< of its thread: "gateway"
    CpuIndex cpu = -1;
    std::string metrics_address;  ///< empty: no endpoint
    std::int64_t for_ns = 0;      ///< how long it runs; 0: until a signal
    std::function<std::string(const LogCounters& log, const EndpointCounters* endpoint)> metrics;
    std::function<std::int64_t()> stepped_ns;  ///< when the thread last advanced
    std::function<std::string()> status;       ///< a line for systemd
    std::function<std::string()> serve;        ///< the thread; returns why it failed, or nothing
    std::function<void()> reload;              ///< on SIGHUP
    std::function<void(int signal)> stop;      ///< ends `serve`; 0: the time is over
};

class SideProcess {
  public:
    /// Blocks the signals that it waits for, before any thread is made. Ignores SIGPIPE, so that
    /// writing to a closed pipe or connection is an error and does not end the process.
    explicit SideProcess(SideParts parts);

    /// Adds an entry to the log. Any thread: the main thread writes it, because a pipe that nobody
    /// reads must not stop the caller.
    void log(LogCode code, std::string subject, std::string sentence);

    /// Opens the metrics endpoint. False, with problems.
    [[nodiscard]] bool open(Problems& problems);

    /// Runs the thread until a signal, the end of the time or its own end.
    [[nodiscard]] Exit run();

    [[nodiscard]] const ServiceManager& manager() const { return manager_; }

  private:
    [[nodiscard]] HttpAnswer health() const;
    [[nodiscard]] bool is_healthy() const;
    void serve();
    [[nodiscard]] int wait_for_end();
    void write_log();
    void notify_manager();

    SideParts parts_;
    ServiceManager manager_ = ServiceManager::of_environment();
    LineWriter writer_;
    std::optional<JournalWriter> journal_;
    Log log_;
    std::mutex entries_mutex_;
    std::deque<LogEntry> entries_;
    sigset_t signals_{};
    std::unique_ptr<HttpServer> server_;
    /// Release and acquire: who sees it sees `failure_`.
    std::atomic<bool> ended_ = false;
    std::string failure_;
};

}  // namespace pinstrike::actors
