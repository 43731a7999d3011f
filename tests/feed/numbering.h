#pragma once

#include "feed/event/position.h"

namespace pinstrike::feed::test {

/// OPRA's, by which the tests of arbitration and recovery number their messages.
inline constexpr Numbering numbering{};

}  // namespace pinstrike::feed::test
