// path: cold
//
// Whether captures were read completely. The commands that read captures fail if they were not,
// although the account of what was read balances.
#pragma once

#include "actors/telemetry/counter_snapshot.h"
#include "nic/packet/drops.h"

#include <string>
#include <vector>

namespace pinstrike::actors {

/// Why a run ended.
struct RunEnd {
    enum class Kind : std::uint8_t {
        input,
        time,
        asked,
        port_lost,  ///< one of the ports can bring no more packets
    };

    Kind kind = Kind::input;
    std::string cause;
};

/// Whether the protocol of a packet that was dropped for this reason never carries market data. A
/// capture that has nothing else was read completely although no packet reached a line.
[[nodiscard]] bool is_of_other_protocol(nic::Drop drop);

/// The problems with the reading of captures, one sentence each; empty without captures. `counters`
/// are those of the stopped appliance. If --for ended the run, the rest of a capture does not count
/// as missed.
[[nodiscard]] std::vector<std::string> capture_faults(const CounterSnapshot& counters,
                                                      const RunEnd& end);

}  // namespace pinstrike::actors
