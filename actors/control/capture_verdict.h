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

/// What brought the end of a run.
struct End {
    enum class Kind : std::uint8_t {
        input,
        time,
        asked,
        port_lost,  ///< no packet can come any more from one of the ports
    };

    Kind kind = Kind::input;
    std::string cause;
};

/// What is wrong with the reading of captures, one sentence each; none without captures. After the
/// stop. An end by --for was wanted, so that the rest of a capture is not missed.
[[nodiscard]] std::vector<std::string> capture_faults(actors::Appliance& appliance, const End& end);

}  // namespace pinstrike::command
