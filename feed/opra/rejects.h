// path: hot
//
// All reasons why a block, or its rest from the first undecodable message on, is refused, and all
// irregularities that are accepted but counted. Source: OPRA Block Header, Message Header. Where
// they leave a case open, this program decides.
#pragma once

#include "config/rows.h"

#include <cstdint>

namespace pinstrike::feed::opra {

// clang-format off
#define PINSTRIKE_OPRA_REJECTS(ROW)                                                                \
    ROW(payload_short, blocks, "the datagram is shorter than a block header (21 bytes)")           \
    ROW(version_unknown, blocks, "the block version is not 6")                                     \
    ROW(feed_unknown, blocks, "the data feed indicator is not O")                                  \
    ROW(size_bad, blocks, "the block size is below 21, above 1000, or above the datagram's bytes") \
    ROW(checksum_bad, blocks, "the block checksum does not agree with the block's bytes")          \
    ROW(no_messages, blocks, "the block header gives 0 messages")                            \
    ROW(category_unknown, blocks, "a message category that has no known length ends the block")    \
    ROW(message_truncated, blocks, "a message is cut off by the end of the block")                 \
    ROW(indicator_bad, blocks, "a quote's BBO indicator is neither A to P nor a space")            \
    ROW(denominator_bad, blocks, "a denominator code is outside A to I")                           \
    ROW(expiration_bad, blocks, "an expiration's month, day or year is out of its range")          \
    ROW(trailing_bytes, blocks, "more than one byte is left in the block after its messages")      \
    ROW(bytes_after_block, blocks, \
        "the datagram has bytes after the block: ignored")                \
    ROW(retransmission_unknown, blocks, "the retransmission indicator is neither a space nor V")  \
    ROW(control_not_alone, blocks, "a control shares its block with other messages: accepted")
// clang-format on

PINSTRIKE_ROWS(BlockReject, PINSTRIKE_OPRA_REJECTS)

[[nodiscard]] constexpr std::uint32_t reason_bit(BlockReject reason) {
    return 1U << static_cast<unsigned>(reason);
}

/// Reasons that only note an irregularity: the block is valid, and nothing of it is lost.
inline constexpr std::uint32_t remarks = reason_bit(BlockReject::bytes_after_block) |
                                         reason_bit(BlockReject::retransmission_unknown) |
                                         reason_bit(BlockReject::control_not_alone);

}  // namespace pinstrike::feed::opra
