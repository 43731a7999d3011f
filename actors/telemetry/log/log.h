// path: cold
//
// The log: one line an entry,
//
//     2026-03-16T13:30:00.123Z error gap_declared line 3: 2 gaps declared; 14 messages lost, ...
//
// with the time (UTC), the level, the code (codes.h), the subject and a sentence with figures. In
// systemd's journal, code and subject are fields. Only the control thread uses it. Other threads
// leave their messages in a LogQueue (log_queue.h), and entries about hot threads are derived from
// their counters (watch.h).
#pragma once

#include "actors/telemetry/log/codes.h"
#include "actors/telemetry/log/journal_writer.h"
#include "actors/telemetry/log/log_counts.h"
#include "actors/telemetry/log/rate_limit.h"
#include "config/log_level.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace pinstrike::actors {

/// A log entry.
struct LogEntry {
    LogCode code;
    std::string subject;  ///< "line 3", "port nic-a", "core core0"
    std::string text;
};

struct LogTime {
    std::int64_t wall_ns = 0;    ///< the time in the line
    std::int64_t steady_ns = 0;  ///< monotonic time, for the rate limit

    [[nodiscard]] static LogTime now();
};

/// "2026-03-16T13:30:00.123Z".
[[nodiscard]] std::string time_text(std::int64_t wall_ns);

struct LogOptions {
    LogLevel level = LogLevel::info;
    /// Lines begin with "<N>", the level for systemd's journal, and have no time, because the
    /// journal adds its own.
    bool journal = false;
    /// Writes a line, its end included; false: it was not written.
    std::function<bool(std::string_view line)> write;
    /// Writes an entry as fields. If it fails or is null, the entry goes to `write`.
    const JournalWriter* fields = nullptr;
};

class Log {
  public:
    /// The longest line, so that a pipe accepts it whole or not at all.
    static constexpr std::size_t line_bytes_max = 2000;

    explicit Log(LogOptions options) : options_(std::move(options)) {}

    /// Writes the entry, unless it is below the level or the rate limit holds it back.
    void add(const LogEntry& entry, LogTime now = LogTime::now());

    /// Must be called often: reports the number of entries held back as soon as the limit allows
    /// it.
    void step(LogTime now = LogTime::now());

    /// At the end: reports all entries held back.
    void finish(LogTime now = LogTime::now());

    /// Applies to the entries that follow.
    void set_level(LogLevel level) { options_.level = level; }

    /// Any thread may read them.
    [[nodiscard]] const LogCounters& counters() const { return counters_; }

  private:
    struct Limited {
        explicit Limited(unsigned burst) : limit(burst) {}

        RateLimit limit;
        std::string last;  ///< text of the last entry held back
    };

    using Key = std::pair<LogCode, std::string>;

    void log_held(const Key& key, Limited& limited, LogTime now);
    void write(LogCode code, std::string_view subject, std::string_view text, LogTime now);

    LogOptions options_;
    std::map<Key, Limited> limited_;  ///< one for each pair of code and subject
    LogCounters counters_;
};

}  // namespace pinstrike::actors
