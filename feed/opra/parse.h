// path: cold
//
// From one datagram to messages in full (message.h). The checks are those of the poll path: there
// is one judgement of what a block is, in opra.h.
#pragma once

#include "feed/event/block.h"
#include "feed/opra/message.h"
#include "feed/opra/opra.h"

#include <cstddef>
#include <optional>
#include <span>

namespace pinstrike::feed::opra {

/// The message at `m`, which inspect_message() found decodable.
[[nodiscard]] wire::Message parse_message(const std::byte* m);

/// What a datagram holds. Without `block` it was refused as a whole, for the reasons in `result`.
struct Parsed {
    OpenResult result;
    std::optional<wire::Block> block;
};

[[nodiscard]] Parsed parse_block(std::span<const std::byte> payload, bool verify_checksum);

}  // namespace pinstrike::feed::opra
