// path: cold
//
// The log of DPDK and its drivers. It passes their log lines to a sink instead of standard error,
// with a rate limit, and keeps errors for the Problem that is reported afterwards.
#pragma once

#include "config/log_level.h"
#include "nic/dpdk/hot_lines.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

namespace pinstrike::nic::dpdk {

using LogSink = std::function<void(LogLevel, std::string_view)>;

/// DPDK's log stream. There is one per process, and it outlives EAL. Any thread may log; a mutex
/// orders the log lines (drivers log during setup and on faults, not per packet). Poll threads,
/// which are registered with DPDK as lcores, take no mutex and allocate nothing (hot_lines.h);
/// fetch() passes their log lines to the sink.
class Log {
  public:
    /// Without a sink, errors go to standard error and other lines are discarded.
    explicit Log(LogSink sink);
    ~Log();

    Log(const Log&) = delete;
    Log& operator=(const Log&) = delete;

    /// Writes a log line of Pinstrike itself to the same sink.
    void say(LogLevel level, std::string_view line);

    /// Writes a log line of a library that DPDK uses, as if DPDK had written it.
    void hear(LogLevel level, std::string_view line);

    /// Passes the log lines of poll threads to the sink. Called by a cold thread about once a
    /// second.
    void fetch();

    /// Clears the kept errors and warnings; call before an operation that may fail.
    void begin();

    /// Errors and warnings since begin(), joined by "; "; "" if there were none.
    [[nodiscard]] std::string complaints();

  private:
    static constexpr unsigned lines_a_second_max = 50;
    static constexpr std::size_t complaints_bytes_max = 2000;

    static ssize_t write(void* log, const char* text, std::size_t bytes);
    void append(LogLevel level, std::string_view text);
    void report(LogLevel level, std::string_view line);
    [[nodiscard]] bool limited(LogLevel level);

    std::mutex mutex_;
    LogSink sink_;
    std::FILE* stream_ = nullptr;
    std::array<char, BUFSIZ> buffer_{};  ///< for the stream, which would otherwise allocate one
    HotLines hot_lines_;
    std::string partial_;  ///< the beginning of an incomplete line
    std::string complaints_;
    std::chrono::steady_clock::time_point second_;
    unsigned lines_ = 0;
    unsigned suppressed_ = 0;
};

}  // namespace pinstrike::nic::dpdk
