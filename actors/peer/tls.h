// path: cold
#pragma once

#include "actors/peer/peer_config.h"
#include "config/problem.h"

#include <asio/ssl/context.hpp>

#include <memory>

namespace pinstrike::actors::peer {

/// Version 1.3, and on both sides a certificate that the authority signed. Null, with problems,
/// where a file cannot be used.
[[nodiscard]] std::unique_ptr<asio::ssl::context> open_tls(const TlsConfig& config,
                                                           Problems& problems);

}  // namespace pinstrike::actors::peer
