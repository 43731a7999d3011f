// path: cold
//
// The limits of events and blocks, by which several modules size their memory.
#pragma once

#include "feed/event/event.h"

#include <cstddef>
#include <cstdint>
#include <limits>

namespace pinstrike::feed {

/// The highest number of a line, by Header::line.
inline constexpr std::uint16_t line_number_max = std::numeric_limits<decltype(Header::line)>::max();

/// How many numbers Header::line has.
inline constexpr std::size_t line_numbers = std::size_t{line_number_max} + 1;

/// The most records of a message, by Header::records.
inline constexpr std::size_t message_records_max =
    std::numeric_limits<decltype(Header::records)>::max();

/// The most messages of a block that is kept for peers. The fast path has two records for each
/// message of such a block.
inline constexpr std::uint16_t block_messages_max = 256;

/// The longest block that is kept for peers, or brought by a repair.
inline constexpr std::size_t kept_block_bytes_max = 16 * 1024;

}  // namespace pinstrike::feed
