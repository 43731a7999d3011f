// path: cold
#pragma once

#include "actors/peer/peer_config.h"
#include "config/problem.h"

#include <asio/ssl/context.hpp>

#include <memory>
#include <string>

namespace pinstrike::actors::peer {

/// Returns a context for TLS 1.3 in which both sides need a certificate that the authority signed.
/// If a file cannot be used, returns null and adds problems, which name the config key `key`.
[[nodiscard]] std::unique_ptr<asio::ssl::context> open_tls(const TlsConfig& config,
                                                           const std::string& key,
                                                           Problems& problems);

}  // namespace pinstrike::actors::peer
