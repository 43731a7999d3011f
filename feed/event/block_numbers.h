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
    std::int64_t ts_exchange_ns = 0;
    bool restarts = false;  ///< it has no messages, and the numbers of its line go on at `first`
};

/// The numbers of the block in a datagram. Nothing if it is damaged or takes no numbers.
using NumbersOf = std::optional<BlockNumbers> (*)(std::span<const std::byte> payload);

/// What a datagram is to someone who wants the messages of some symbols.
enum class Concern : std::uint8_t {
    damaged,  ///< its block is refused, or one of its messages cannot be decoded
    other,
    wanted,  ///< a message is about one of the symbols, or concerns the whole line
};

/// The symbols have the format of SeriesKey::symbol_word().
using ConcernOf = Concern (*)(std::span<const std::byte> payload,
                              std::span<const std::uint64_t> symbols);

}  // namespace pinstrike::feed
