// path: cold
//
// The events that an actor core gets from generated traffic or from a capture. A benchmark records
// them and then delivers them many times.
#pragma once

#include "config/problem.h"
#include "feed/event/event.h"

#include <cstddef>
#include <string>
#include <vector>

namespace pinstrike::actors {

struct RecordedEvents {
    std::vector<feed::Event> records;  ///< records of all messages in order, as in a ring
    std::size_t messages = 0;
};

/// Returns the first `most` messages and line events of the published lines in a capture, as a
/// poller delivers them: both streams are arbitrated, and gaps are included. If there are none, the
/// problems say why. The problems also say whether the file ends within a packet.
[[nodiscard]] RecordedEvents record_capture(const std::string& file, std::size_t most,
                                            Problems& problems);

}  // namespace pinstrike::actors
