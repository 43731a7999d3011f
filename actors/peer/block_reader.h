// path: cold
#pragma once

#include "actors/peer/client_session.h"

#include <string_view>

namespace pinstrike::actors::peer {

/// Checks blocks with a venue's codec, checksums too; for one thread. The venue is one there is.
[[nodiscard]] BlockReader venue_block_reader(std::string_view venue);

}  // namespace pinstrike::actors::peer
