// path: cold
#pragma once

#include "actors/peer/peer_config.h"
#include "config/section.h"

namespace pinstrike::actors::peer {

[[nodiscard]] Section<PeerConfig> peer_section();

}  // namespace pinstrike::actors::peer
