// path: cold
#pragma once

#include "feed/lines/origin.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace pinstrike::feed::opra {

/// Appends a line for each message of a datagram, as canonical JSON or for people, and one for what
/// could not be decoded. `packet`: its number in the capture.
void append_datagram(std::string& out, std::span<const std::byte> payload, Origin origin,
                     std::uint64_t packet, bool json);

}  // namespace pinstrike::feed::opra
