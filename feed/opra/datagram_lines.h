// path: cold
#pragma once

#include "feed/lines/line_config.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace pinstrike::feed::opra {

/// Appends one line for each message of a datagram, as canonical JSON or as text for people, and
/// one line for the part that cannot be decoded. `packet` is the packet's number in the capture.
void append_datagram(std::string& out, std::span<const std::byte> payload, Origin origin,
                     std::uint64_t packet, bool json);

}  // namespace pinstrike::feed::opra
