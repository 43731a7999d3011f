// path: cold
#pragma once

#include "actors/poller/unknown_groups.h"

#include <string>
#include <vector>

namespace pinstrike::actors {

/// "239.1.4.4:31004 from 162.69.44.4, 21 packets; 239.1.4.5:31005 from ..."
[[nodiscard]] std::string to_text(const std::vector<UnknownGroup>& groups);

}  // namespace pinstrike::actors
