// path: cold
//
// The two output formats of `decode`: canonical JSON with one object per line, and text for people.
#pragma once

#include "feed/opra/fields.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace pinstrike::feed::opra {

/// A block that cannot be decoded as a whole or to its end.
struct BlockError {
    std::string_view reason;
    Origin origin;
    std::optional<std::uint32_t> sequence;  ///< the block's number, if its header is readable
    std::uint64_t packet = 0;               ///< counted from 1 in its file
};

// Each of these appends one line, its newline included.

void append_json(std::string& out, Origin origin, const wire::DecodedBlock& block,
                 std::size_t index);
void append_json(std::string& out, const BlockError& error);

void append_text(std::string& out, Origin origin, const wire::DecodedBlock& block,
                 std::size_t index);
void append_text(std::string& out, const BlockError& error);

/// Appends one line for each message of a datagram, as JSON or as text, and one line for the part
/// that cannot be decoded. `packet` is the packet's number in the capture.
void append_datagram(std::string& out, std::span<const std::byte> payload, Origin origin,
                     std::uint64_t packet, bool json);

}  // namespace pinstrike::feed::opra
