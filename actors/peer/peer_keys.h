// path: cold
#pragma once

#include "actors/peer/peer_config.h"
#include "config/section.h"

namespace pinstrike::actors::peer {

[[nodiscard]] Section<PeerConfig> peer_section();

/// The files of TLS, also of other connections between instances.
[[nodiscard]] Section<TlsConfig> tls_section();

}  // namespace pinstrike::actors::peer
