// path: cold
#pragma once

#include <cstdint>

namespace pinstrike::bench {

/// Millions of messages a second from this thread to an actor of CAF that has one of its own, sent
/// one by one: CAF bounds no mailbox and has no batches.
double caf_empty_handler(std::uint64_t count);

}  // namespace pinstrike::bench
