// path: cold
#pragma once

#include "actors/peer/client_session.h"

#include <string_view>

namespace pinstrike::actors::peer {

/// Makes a reader that checks blocks with the venue's codec, including checksums. Copies of the
/// reader share memory, so only one thread may use them. `venue` must name a venue of this program.
[[nodiscard]] BlockReader venue_block_reader(std::string_view venue);

}  // namespace pinstrike::actors::peer
