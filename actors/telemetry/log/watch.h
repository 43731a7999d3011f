// path: cold
//
// Log entries for the changes between two snapshots of the counters. Hot threads only count. The
// control thread calls this once a second to interpret the counts. The result depends on the
// snapshots alone.
#pragma once

#include "actors/telemetry/counter_snapshot.h"
#include "actors/telemetry/log/log.h"

#include <array>
#include <optional>
#include <vector>

namespace pinstrike::actors {

class Watch {
  public:
    /// Entries for the changes since the last call; at the first call, since the start.
    [[nodiscard]] std::vector<LogEntry> look(const CounterSnapshot& now);

  private:
    void watch_program(const CounterSnapshot& now);
    void watch_reverse_path(const CounterSnapshot& now);
    void watch_recovery(const RecoverySnapshot& now, const RecoverySnapshot& before);
    void watch_recorder(const CounterSnapshot& now);
    void watch_calls(const RefusedCalls& now, const RefusedCalls& before);
    void watch_links(const CounterSnapshot& now);
    void watch_devices(const QueueSnapshot& now, const QueueSnapshot& before,
                       const PollerSnapshot& poller);
    void watch_drops(const QueueSnapshot& now, const QueueSnapshot& before);
    void watch_load(const PollerSnapshot& now, const PollerSnapshot& before);
    void watch_gaps(const LineSnapshot& now, const LineSnapshot& before);
    void watch_rejects(const LineSnapshot& now, const LineSnapshot& before,
                       std::span<const Row> rows);
    void watch_streams(const LineSnapshot& now, const LineSnapshot& before, double seconds);
    void watch_line(const LineSnapshot& now, const LineSnapshot& before);
    void watch_unheard(const CounterSnapshot& now);
    void watch_loop_steps(const CounterSnapshot& now);
    void watch_core(const CoreSnapshot& now, const CoreSnapshot& before);
    void add(LogCode code, std::string subject, std::string text);

    std::optional<CounterSnapshot> before_;
    bool unheard_logged_ = false;
    std::uint64_t unrecorded_before_ = 0;  ///< packets, when the recorder last began to fail
    std::vector<LogEntry> entries_;
};

}  // namespace pinstrike::actors
