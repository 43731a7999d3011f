// path: cold
//
// Parses a datagram into full messages (message.h). It uses the checks of the poll path (opra.h),
// so both accept the same blocks.
#pragma once

#include "feed/event/block.h"
#include "feed/opra/message.h"
#include "feed/opra/opra.h"

#include <cstddef>
#include <optional>
#include <span>

namespace pinstrike::feed::opra {

/// The content of a datagram. Without `block`, the datagram was refused as a whole, for the reasons
/// in `result`.
struct Parsed {
    OpenResult result;
    std::optional<wire::DecodedBlock> block;
};

[[nodiscard]] Parsed parse_block(std::span<const std::byte> payload, bool verify_checksum);

}  // namespace pinstrike::feed::opra
