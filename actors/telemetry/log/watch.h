// path: cold
//
// Log entries for the changes between two snapshots of the counters. Hot threads only count. The
// control thread calls this once a second to interpret the counts. The result depends on the
// snapshots alone.
#pragma once

#include "actors/telemetry/counter_snapshot.h"
#include "actors/telemetry/log/log.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace pinstrike::actors {

class Watch {
  public:
    /// Entries for the changes since the last call; at the first call, since the start.
    [[nodiscard]] std::vector<LogEntry> look(const CounterSnapshot& now);

  private:
    std::optional<CounterSnapshot> before_;
    bool unheard_logged_ = false;
    std::uint64_t unrecorded_before_ = 0;  ///< packets, when the recorder last began to fail
};

}  // namespace pinstrike::actors
