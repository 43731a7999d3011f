#pragma once

#include "feed/event/position.h"

namespace pinstrike::feed::test {

/// OPRA's numbering. The tests of arbitration and recovery number their messages by it.
inline constexpr Numbering numbering{};

}  // namespace pinstrike::feed::test
