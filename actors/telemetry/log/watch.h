// path: cold
//
// What changed between two looks at an appliance, in words. Hot threads only count; what their
// counts mean is found out here, once a second, on the control thread. A function of figures alone.
#pragma once

#include "actors/telemetry/log/log.h"
#include "actors/telemetry/log/snapshot.h"

#include <array>
#include <optional>
#include <vector>

namespace pinstrike::actors {

class Watch {
  public:
    /// Entries for what is new since the look before; since the start at the first.
    [[nodiscard]] std::vector<LogEntry> look(const Sight& now);

  private:
    void watch_program(const Sight& now);
    void watch_reverse_path(const Sight& now);
    void watch_recovery(const RecoverySight& now, const RecoverySight& before);
    void watch_calls(const RefusedCalls& now, const RefusedCalls& before);
    void watch_links(const Sight& now);
    void watch_devices(const QueueSight& now, const QueueSight& before, const PollerSight& poller);
    void watch_drops(const QueueSight& now, const QueueSight& before);
    void watch_load(const PollerSight& now, const PollerSight& before);
    void watch_gaps(const LineSight& now, const LineSight& before);
    void watch_rejects(const LineSight& now, const LineSight& before, std::span<const Row> rows);
    void watch_streams(const LineSight& now, const LineSight& before, double seconds);
    void watch_line(const LineSight& now, const LineSight& before);
    void watch_unheard(const Sight& now);
    void watch_turns(const Sight& now);
    void watch_core(const CoreSight& now, const CoreSight& before);
    void add(LogCode code, std::string subject, std::string text);

    std::optional<Sight> before_;
    bool unheard_told_ = false;
    std::vector<LogEntry> entries_;
};

}  // namespace pinstrike::actors
