// path: cold
//
// The log: one line an entry,
//
//     2026-03-16T13:30:00.123Z error gap_declared line 3: 2 gaps declared; 14 messages lost, ...
//
// with the time (UTC), the level, the code (codes.h), the subject and a sentence with figures; in
// systemd's journal with code and subject as fields. Used
// from the control thread alone; other threads leave their messages in a Mailbox (mailbox.h), and
// what hot threads do is seen in their counters (watch.h).
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

/// What is to be told.
struct LogEntry {
    LogCode code;
    std::string subject;  ///< "line 3", "port nic-a", "core core0"
    std::string text;
};

struct LogTime {
    std::int64_t wall_ns = 0;    ///< what the line says
    std::int64_t steady_ns = 0;  ///< what the limit counts by: nobody sets it

    [[nodiscard]] static LogTime now();
};

/// "2026-03-16T13:30:00.123Z".
[[nodiscard]] std::string time_text(std::int64_t wall_ns);

struct LogOptions {
    LogLevel level = LogLevel::info;
    /// Lines begin with "<N>", as systemd's journal reads levels, and carry no time: it adds its
    /// own.
    bool journal = false;
    /// Takes a line, its end included; false: it was not written.
    std::function<bool(std::string_view line)> write;
    /// Takes an entry as fields; where it does not, or there is none, the entry goes to `write`.
    const JournalWriter* fields = nullptr;
};

class Log {
  public:
    /// A line is no longer than this, so that a pipe takes it whole or not at all.
    static constexpr std::size_t line_bytes_max = 2000;

    explicit Log(LogOptions options) : options_(std::move(options)) {}

    /// Writes the entry, unless it is below the level or the same was just said.
    void tell(const LogEntry& entry, LogTime now = LogTime::now());

    /// Call often: says how many were held back, as soon as that may be said.
    void step(LogTime now = LogTime::now());

    /// At the end: says it of all.
    void finish(LogTime now = LogTime::now());

    /// Of what is told from now on.
    void set_level(LogLevel level) { options_.level = level; }

    /// Any thread may read.
    [[nodiscard]] const LogCounters& counters() const { return counters_; }

  private:
    struct Limited {
        explicit Limited(unsigned burst) : limit(burst) {}

        RateLimit limit;
        std::string last;  ///< text of the last entry held back
    };

    using Key = std::pair<LogCode, std::string>;

    void tell_held(const Key& key, Limited& limited, LogTime now);
    void write(LogCode code, std::string_view subject, std::string_view text, LogTime now);

    LogOptions options_;
    std::map<Key, Limited> limited_;  ///< as many as there are codes and subjects: bounded by both
    LogCounters counters_;
};

}  // namespace pinstrike::actors
