// path: cold
#include "actors/telemetry/log/log.h"

#include "nic/clock.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

namespace pinstrike::actors {
namespace {

/// The priority of syslog(3).
constexpr int priority_of(LogLevel level) {
    return std::array{7, 6, 4, 3}[static_cast<std::size_t>(level)];
}

/// Makes one line of any text, such as a driver's message or the name of a file, without control
/// characters that would move a terminal's cursor, and without a line end.
std::string printable(std::string line) {
    for (char& character : line) {
        const auto byte = static_cast<unsigned char>(character);
        character = byte < 0x20 || byte == 0x7F ? ' ' : character;
    }
    if (line.size() >= Log::line_bytes_max) {
        line.resize(Log::line_bytes_max - 4);
        line += "...";
    }
    return line;
}

}  // namespace

std::string time_text(std::int64_t wall_ns) {
    using std::chrono::milliseconds;
    const auto since_1970 = std::chrono::floor<milliseconds>(
        std::chrono::nanoseconds{std::max<std::int64_t>(wall_ns, 0)});
    const auto seconds = std::chrono::floor<std::chrono::seconds>(since_1970);
    return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z",
                       fmt::gmtime(static_cast<std::time_t>(seconds.count())),
                       (since_1970 - seconds).count());
}

LogTime LogTime::now() {
    return {nic::Clock::system_wall_ns(), nic::monotonic_ns()};
}

void Log::add(const LogEntry& entry, LogTime now) {
    const LogRow& row = row_of(entry.code);
    if (row.level < options_.level) {
        return;
    }
    const auto [found, is_first] = limited_.try_emplace({entry.code, entry.subject}, row.burst);
    Limited& limited = found->second;
    if (!limited.limit.admit(now.steady_ns)) {
        limited.last = entry.text;
        counters_.bump(LogCount::limited);
        return;
    }
    const std::uint64_t held = limited.limit.take_held();
    write(entry.code, entry.subject,
          held == 0 ? entry.text : fmt::format("{} ({} more like this before)", entry.text, held),
          now);
}

void Log::step(LogTime now) {
    for (auto& [key, limited] : limited_) {
        if (limited.limit.held() != 0 && limited.limit.due(now.steady_ns)) {
            limited.limit.logged(now.steady_ns);
            log_held(key, limited, now);
        }
    }
    // A subject may be an address that anybody can choose, so there may be any number of subjects.
    std::erase_if(limited_, [&](const auto& entry) {
        const RateLimit& limit = entry.second.limit;
        return limit.held() == 0 && limit.quiet(now.steady_ns);
    });
}

void Log::finish(LogTime now) {
    for (auto& [key, limited] : limited_) {
        if (limited.limit.held() != 0) {
            log_held(key, limited, now);
        }
    }
}

void Log::log_held(const Key& key, Limited& limited, LogTime now) {
    const std::uint64_t held = limited.limit.take_held();
    write(key.first, key.second,
          held == 1 ? limited.last
                    : fmt::format("{} more like this, the last: {}", held, limited.last),
          now);
}

void Log::write(LogCode code, std::string_view subject, std::string_view text, LogTime now) {
    const LogRow& row = row_of(code);
    const int priority = priority_of(row.level);
    const std::string said =
        fmt::format("{} {} {}: {}", word_of(row.level), row.code, subject, text);
    const std::string begin =
        options_.journal ? fmt::format("<{}>", priority) : time_text(now.wall_ns) + ' ';
    const bool written =
        (options_.fields != nullptr && options_.fields->takes() &&
         options_.fields->write(priority, row.code, printable(std::string{subject}),
                                printable(said))) ||
        options_.write(printable(begin + said) + '\n');
    counters_.bump(written ? LogCount::written : LogCount::failed);
}

}  // namespace pinstrike::actors
