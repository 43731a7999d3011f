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
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace pinstrike::actors {

class SideProcess {
  public:
    virtual ~SideProcess() = default;

    SideProcess(const SideProcess&) = delete;
    SideProcess& operator=(const SideProcess&) = delete;

  protected:
    /// `name`: of its thread, such as "gateway". `metrics_address`: empty: no endpoint. `for_ns`:
    /// how long it runs; 0: until a signal. Blocks the signals that it waits for, before any thread
    /// is made. Ignores SIGPIPE, so that writing to a closed pipe or connection is an error and
    /// does not end the process.
    SideProcess(std::string name, CpuIndex cpu, std::string metrics_address, std::int64_t for_ns);

    /// Adds an entry to the log. Any thread: the main thread writes it, because a pipe that nobody
    /// reads must not stop the caller.
    void log(LogCode code, std::string subject, std::string sentence);

    /// Opens the metrics endpoint. False, with problems.
    [[nodiscard]] bool open(Problems& problems);

    /// Runs the thread until a signal, the end of the time or its own end.
    [[nodiscard]] Exit run_thread();

    [[nodiscard]] const ServiceManager& manager() const { return manager_; }

  private:
    // Called by other threads than serve().

    [[nodiscard]] virtual std::string metrics(const LogCounters& log,
                                              const EndpointCounters* endpoint) = 0;

    /// When the thread last advanced.
    [[nodiscard]] virtual std::int64_t stepped_ns() const = 0;

    /// A line for systemd.
    [[nodiscard]] virtual std::string status() const = 0;

    /// On SIGHUP.
    virtual void reload() {}

    /// Ends serve(). 0: the time is over.
    virtual void stop(int signal) = 0;

    /// The thread. Returns why it failed, or nothing.
    [[nodiscard]] virtual std::string serve() = 0;

    [[nodiscard]] HttpAnswer health() const;
    [[nodiscard]] bool is_healthy() const;
    void serve_guarded();
    [[nodiscard]] int wait_for_end();
    void write_log();
    void notify_manager();

    std::string name_;
    CpuIndex cpu_;
    std::string metrics_address_;
    std::int64_t for_ns_;
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
