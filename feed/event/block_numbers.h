// path: cold
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace pinstrike::feed {

/// The numbers of a block's messages, for tools that look at packets without an arbiter.
struct BlockNumbers {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    std::uint8_t session = 0;
    bool restarts = false;  ///< it has no messages, and the numbers of its line go on at `first`
};

/// The numbers of the block in a datagram. Nothing if it is damaged or takes no numbers.
using NumbersOf = std::optional<BlockNumbers> (*)(std::span<const std::byte> payload);

}  // namespace pinstrike::feed
