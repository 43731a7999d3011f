// path: cold
#include "actors/control/side_process.h"

#include "actors/market/reader_keys.h"
#include "actors/runtime/executor_thread.h"
#include "config/print_problems.h"
#include "config/time_units.h"
#include "config/wall_time.h"

#include <fmt/format.h>
#include <unistd.h>

#include <ctime>
#include <exception>
#include <thread>
#include <utility>

namespace pinstrike::actors {
namespace {

constexpr std::int64_t turn_ns = 100'000'000;
constexpr std::size_t entries_max = 10'000;

}  // namespace

SideProcess::SideProcess(SideParts parts)
    : parts_(std::move(parts)),
      writer_(STDERR_FILENO),
      log_({LogLevel::info, is_journal(STDERR_FILENO),
            [this](std::string_view line) { return writer_.write(line); },
            is_journal(STDERR_FILENO) ? &journal_.emplace() : nullptr}) {
    ::sigemptyset(&signals_);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
        ::sigaddset(&signals_, signal);
    }
    ::pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
}

void SideProcess::log(LogCode code, std::string subject, std::string sentence) {
    const std::lock_guard lock{entries_mutex_};
    if (entries_.size() < entries_max) {
        entries_.push_back({code, std::move(subject), std::move(sentence)});
    }
}

bool SideProcess::open(Problems& problems) {
    if (parts_.metrics_address.empty()) {
        return true;
    }
    const nic::Group at = endpoint_of(parts_.metrics_address);
    Problem complaint;
    server_ = HttpServer::open(
        nic::text_of(at.address), at.port, [this](const std::string& path) { return answer(path); },
        complaint);
    if (server_ == nullptr) {
        add_problem(problems, "",
                    fmt::format("metrics_address: cannot listen at {}: {}", parts_.metrics_address,
                                complaint.text),
                    complaint.remedy);
        return false;
    }
    endpoint_.store(&server_->counters(), std::memory_order_release);
    return true;
}

HttpAnswer SideProcess::answer(const std::string& path) const {
    if (path == "/metrics") {
        return {200, parts_.metrics(log_.counters(), endpoint_.load(std::memory_order_acquire))};
    }
    if (path == "/healthz") {
        return is_healthy()
                   ? HttpAnswer{200, fmt::format("the {}'s thread advances\n", parts_.name)}
                   : HttpAnswer{503,
                                fmt::format("the {}'s thread does not advance\n", parts_.name)};
    }
    return {404, "/metrics and /healthz are here\n"};
}

bool SideProcess::is_healthy() const {
    return wall_ns() - parts_.stepped_ns() < 2 * second_ns;
}

Exit SideProcess::run() {
    std::thread thread{[this] { serve(); }};
    manager_.notify("READY=1");
    const int signal = wait_for_end();
    manager_.notify("STOPPING=1");
    parts_.stop(signal);
    thread.join();
    write_log();
    log_.finish();
    server_.reset();  // it asks parts that may be destroyed before this
    if (!failure_.empty()) {
        complain("{}", failure_);
        return Exit::failed;
    }
    return Exit::ok;
}

/// The thread. An exception (memory ran out) ends the program.
void SideProcess::serve() {
    try {
        if (!place_this_thread(parts_.cpu, parts_.name)) {
            complain("remark: cpu: the system refused processor {}", parts_.cpu);
        }
        failure_ = parts_.serve();
    } catch (const std::exception& error) {
        failure_ = error.what();
    }
    ended_.store(true, std::memory_order_release);
}

/// Returns the signal that ends the process; 0: its time is over, or its thread has ended.
int SideProcess::wait_for_end() {
    const std::int64_t end_ns =
        parts_.for_ns == 0 ? INT64_MAX : runtime::steady_ns() + parts_.for_ns;
    const timespec turn{.tv_sec = 0, .tv_nsec = turn_ns};
    while (runtime::steady_ns() < end_ns && !ended_.load(std::memory_order_acquire)) {
        const int signal = ::sigtimedwait(&signals_, nullptr, &turn);
        if (signal == SIGHUP) {
            parts_.reload();
        } else if (signal > 0) {
            return signal;
        }
        write_log();
        log_.step();
        notify_manager();
    }
    return 0;
}

void SideProcess::write_log() {
    std::deque<LogEntry> entries;
    {
        const std::lock_guard lock{entries_mutex_};
        entries.swap(entries_);
    }
    for (const LogEntry& entry : entries) {
        log_.add(entry);
    }
}

void SideProcess::notify_manager() {
    if (is_healthy()) {
        manager_.notify("WATCHDOG=1");
        manager_.notify("STATUS=" + parts_.status());
    }
}

}  // namespace pinstrike::actors
