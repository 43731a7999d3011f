// path: cold
#pragma once

#include <cstdint>

namespace pinstrike::bench {

/// Millions of messages per second from this thread to a CAF actor that has a thread of its own.
/// The messages are sent one by one, because CAF has no batches; its mailboxes are unbounded.
double caf_empty_handler(std::uint64_t count);

}  // namespace pinstrike::bench
