// path: hot
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace pinstrike::feed {

/// The two streams of a line, which carry the same blocks.
enum class Stream : std::uint8_t { a, b };
inline constexpr std::size_t streams_count = 2;

/// The effect of a block on its line's numbering.
enum class BlockRole : std::uint8_t {
    data,            ///< carries `messages` numbers, `sequence` the first
    line_integrity,  ///< states the last number, and consumes none
    start_of_day,    ///< the next number is 1
    reset,           ///< the next number is sequence + 1
    /// Numbers begin anew at sequence + 1, on both streams at once. A codec reports it once for
    /// each line, from the first block of the session, and drops blocks of older sessions.
    new_session,
    /// Carries `messages` messages without numbers, and `sequence` is 0. The arbiter passes on each
    /// copy as it comes.
    unnumbered,
};

/// The position of a message in its block, and its form as the venue's codec found it.
struct MessagePlace {
    std::uint16_t offset = 0;  ///< from the first byte of Block::bytes
    std::uint16_t form = 0;    ///< in the codec's own encoding
};

/// A block that the venue's codec has opened, as an arbiter of any venue needs it. `places`,
/// `decodable` and the role of a control are known only after walk(), which the fast path omits.
///
/// The two times are not adjacent on purpose. Both are copied into the header of each event, and
/// the compiler copies adjacent ones with one vector load. That load spans two recent stores, so it
/// cannot be forwarded: it waits until both, and all ring writes before them, have left the store
/// buffer.
struct Block {
    std::int64_t ts_receive_ns = 0;        ///< see Codec::opens_by_arrival; set after open()
    std::span<const std::byte> bytes;      ///< includes the header and the pad, nothing after it
    const MessagePlace* places = nullptr;  ///< one per decodable message; null: not walked
    std::uint64_t sequence = 0;            ///< at most number_max (position.h)
    std::uint16_t messages = 0;            ///< messages it carries
    std::uint16_t decodable = 0;  ///< messages at the front that can be decoded; the rest cannot
    BlockRole role = BlockRole::data;
    bool retransmitted = false;  ///< may only fill known holes; see Codec::opens_by_arrival
    std::uint8_t session = 0;
    /// The time in the block's header. It is the same in all copies of a block, also in those that
    /// other hosts received (but see Codec::ts_of_copy()), and no block of a session is stamped
    /// before an earlier one. If headers have no time, it is 0 in all blocks, and never a receive
    /// time or a time that the codec remembers.
    std::int64_t ts_exchange_ns = 0;
};

/// The result of opening a block.
struct OpenResult {
    bool accepted = false;      ///< false: the block is refused as a whole and moves no sequence
    std::uint32_t reasons = 0;  ///< a bit for each of the codec's reject reasons
};

/// The first bytes of a block, by which a venue's codec recognises copies of the same block.
using BlockStart = std::array<std::byte, 32>;

}  // namespace pinstrike::feed
