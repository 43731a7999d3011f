// path: cold
//
// What changed between two looks at an appliance, in words. Hot threads only count; what their
// counts mean is found out here, once a second, on the control thread. A function of figures alone.
#pragma once

#include "actors/log/log.h"
#include "actors/log/sight.h"

#include <array>
#include <optional>
#include <vector>

namespace pinstrike::actors {

class Watch {
  public:
    /// Entries for what is new since the look before; since the start at the first.
    [[nodiscard]] std::vector<LogEntry> look(const Sight& now);

  private:
    /// Line integrity comes at least every ten seconds.
    static constexpr double silence_s = 11;

    struct StreamState {
        double heard_s = 0;
        bool silent = false;
    };

    using LineState = std::array<StreamState, feed::streams_count>;

    void watch_program(const Sight& now);
    void watch_links(const Sight& now);
    void watch_devices(const QueueSight& now, const QueueSight& before, const PollerSight& poller);
    void watch_drops(const QueueSight& now, const QueueSight& before);
    void watch_load(const PollerSight& now, const PollerSight& before);
    void watch_gaps(const LineSight& now, const LineSight& before);
    void watch_rejects(const LineSight& now, const LineSight& before, std::span<const Row> rows);
    void watch_streams(const LineSight& now, const LineSight& before, LineState& states,
                       const Sight& sight);
    void watch_unheard(const Sight& now);
    void watch_core(const CoreSight& now, const CoreSight& before);
    void add(LogCode code, std::string subject, std::string text);

    std::optional<Sight> before_;
    std::vector<LineState> states_;  ///< line by line, poller by poller
    bool unheard_looked_ = false;
    std::vector<LogEntry> entries_;
};

}  // namespace pinstrike::actors
