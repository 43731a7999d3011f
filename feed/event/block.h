// path: hot
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace pinstrike::feed {

/// The two copies of a line.
enum class Stream : std::uint8_t { a, b };
inline constexpr std::size_t streams_count = 2;

/// What a block does to its line's numbering.
enum class BlockRole : std::uint8_t {
    data,            ///< carries `messages` numbers, `sequence` the first
    line_integrity,  ///< repeats the last number, consumes none
    start_of_day,    ///< the next number is 1
    reset,           ///< the next number is sequence + 1
};

/// Where a message is, and what the venue's codec found of it when it checked the block.
struct MessagePlace {
    std::uint16_t offset = 0;  ///< from Block::bytes' first
    std::uint16_t form = 0;    ///< the codec's own
};

/// A block that was walked and checked whole: what an Arbiter needs to know of it, of any venue.
///
/// The two times stand apart on purpose. Both are copied into the header of each event, and side by
/// side they are copied as one vector: a load of two stores that were made a moment ago waits until
/// they have left the store buffer, and with them all that was written to rings before.
struct Block {
    std::int64_t ts_receive_ns = 0;
    std::span<const std::byte> bytes;      ///< header included, pad included, nothing behind it
    const MessagePlace* places = nullptr;  ///< of its decodable messages
    std::uint32_t sequence = 0;
    std::uint16_t messages = 0;   ///< numbers it carries
    std::uint16_t decodable = 0;  ///< of these, from the front; the rest cannot be decoded
    BlockRole role = BlockRole::data;
    bool retransmitted = false;  ///< may only fill what is known to be missing
    std::uint8_t session = 0;
    std::int64_t ts_exchange_ns = 0;
};

/// The first bytes of a block, by which a venue's codec tells copies from other blocks.
using BlockStart = std::array<std::byte, 32>;

}  // namespace pinstrike::feed
