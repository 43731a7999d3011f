// path: cold
#include "feed/opra/datagram_lines.h"

#include "feed/opra/parse.h"

#include <bit>

namespace pinstrike::feed::opra {
namespace {

/// The reason why a block cannot be decoded as a whole or to its end; empty: there is none. A block
/// without messages has nothing to decode, so that reason is not reported.
std::string_view reason_of(const OpenResult& result) {
    const std::uint32_t reported =
        result.reasons & ~remarks & ~reason_bit(BlockReject::no_messages);
    if (reported == 0) {
        return {};
    }
    return row_of(static_cast<BlockReject>(std::countr_zero(reported))).sentence;
}

std::optional<std::uint32_t> sequence_of_block(std::span<const std::byte> payload) {
    if (payload.size() < block::header_bytes || get<block::version>(payload.data()) != 6) {
        return std::nullopt;
    }
    return get<block::sequence>(payload.data());
}

}  // namespace

void append_datagram(std::string& out, std::span<const std::byte> payload, Origin origin,
                     std::uint64_t packet, bool json) {
    const Parsed parsed = parse_block(payload, true);
    const std::size_t count = parsed.block ? parsed.block->messages.size() : 0;
    for (std::size_t i = 0; i < count; ++i) {
        json ? append_json(out, origin, *parsed.block, i)
             : append_text(out, origin, *parsed.block, i);
    }
    if (const std::string_view reason = reason_of(parsed.result); !reason.empty()) {
        const BlockError error{reason, origin, sequence_of_block(payload), packet};
        json ? append_json(out, error) : append_text(out, error);
    }
}

}  // namespace pinstrike::feed::opra
