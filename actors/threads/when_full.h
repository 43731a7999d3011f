// path: cold
#pragma once

#include <cstdint>

namespace pinstrike::actors {

/// What a sender does when a ring or a mailbox has no room: refuse the message, or wait.
enum class WhenFull : std::uint8_t { refuse, wait };

}  // namespace pinstrike::actors
