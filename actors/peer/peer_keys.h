// path: cold
#pragma once

#include "actors/peer/peer_config.h"
#include "config/section.h"

namespace pinstrike::actors::peer {

/// The path of a file.
[[nodiscard]] Form<std::string> file_form();

[[nodiscard]] Section<PeerConfig> peer_section();

/// The files of TLS, also of other connections between instances.
[[nodiscard]] Section<TlsConfig> tls_section();

}  // namespace pinstrike::actors::peer
