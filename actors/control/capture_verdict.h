// path: cold
//
// Whether captures were read completely. The commands that read captures fail if they were not,
// although the account of what was read balances.
#pragma once

#include "actors/appliance/appliance.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pinstrike::command {

/// Why a run ended.
struct End {
    enum class Kind : std::uint8_t {
        input,
        time,
        asked,
        port_lost,  ///< one of the ports can bring no more packets
    };

    Kind kind = Kind::input;
    std::string cause;
};

/// The number of dropped packets whose protocol never carries market data. A capture that has
/// nothing else was read completely although no packet reached a line.
[[nodiscard]] std::uint64_t packets_of_other_protocols(const actors::DropCounters& drops);

/// The problems with the reading of captures, one sentence each; empty without captures. To be
/// called after the stop. If --for ended the run, the rest of a capture does not count as missed.
[[nodiscard]] std::vector<std::string> capture_faults(actors::Appliance& appliance, const End& end);

}  // namespace pinstrike::command
