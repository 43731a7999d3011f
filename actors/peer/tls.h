// path: cold
#pragma once

#include "actors/peer/peer_config.h"
#include "config/problem.h"

#include <asio/ssl/context.hpp>

#include <memory>

namespace pinstrike::actors::peer {

/// A context for TLS 1.3 in which both sides need a certificate that the authority signed. Returns
/// null and adds problems if a file cannot be used.
[[nodiscard]] std::unique_ptr<asio::ssl::context> open_tls(const TlsConfig& config,
                                                           Problems& problems);

}  // namespace pinstrike::actors::peer
