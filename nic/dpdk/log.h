// path: cold
//
// What DPDK and its drivers say, taken off standard error: lines go to a sink, limited, and those
// of errors are kept for the Problem that follows.
#pragma once

#include "nic/dpdk/hot_lines.h"
#include "nic/dpdk/log_level.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

namespace pinstrike::nic::dpdk {

using LogSink = std::function<void(LogLevel, std::string_view)>;

/// Becomes DPDK's log stream; one a process, and it outlives EAL. Any thread may log: a mutex
/// orders the lines (drivers log when they are set up or broken, never per packet). Poll threads,
/// which DPDK knows as lcores, meet no mutex and allocate nothing here (hot_lines.h); their lines
/// come when somebody fetches them.
class Log {
  public:
    /// Without a sink, errors go to standard error and the rest nowhere.
    explicit Log(LogSink sink);
    ~Log();

    Log(const Log&) = delete;
    Log& operator=(const Log&) = delete;

    /// A line of our own, to the same sink.
    void say(LogLevel level, std::string_view line);

    /// A line of a library below DPDK, treated as DPDK's own.
    void hear(LogLevel level, std::string_view line);

    /// Passes on what poll threads said. From a cold thread, about once a second.
    void fetch();

    /// Forgets the kept lines: call it before what may fail.
    void begin();

    /// Errors and warnings since begin(), joined by "; "; "" if there were none.
    [[nodiscard]] std::string complaints();

  private:
    static constexpr unsigned lines_a_second_max = 50;
    static constexpr std::size_t complaints_bytes_max = 2000;

    static ssize_t write(void* log, const char* text, std::size_t bytes);
    void take(LogLevel level, std::string_view text);
    void tell(LogLevel level, std::string_view line);
    [[nodiscard]] bool limited(LogLevel level);

    std::mutex mutex_;
    LogSink sink_;
    std::FILE* stream_ = nullptr;
    std::array<char, BUFSIZ> buffer_{};  ///< the stream's, which would allocate its own
    HotLines hot_lines_;
    std::string partial_;  ///< a line not ended yet
    std::string complaints_;
    std::chrono::steady_clock::time_point second_{};
    unsigned lines_ = 0;
    unsigned suppressed_ = 0;
};

}  // namespace pinstrike::nic::dpdk
