// path: cold
#pragma once

#include "actors/peer/peer_config.h"
#include "config/problem.h"

#include <memory>
#include <string>

struct ssl_ctx_st;  // SSL_CTX of OpenSSL

namespace pinstrike::actors::peer {

/// Certificates for connections in both directions, in which both sides need a certificate that the
/// authority signed.
using TlsCertificates = std::shared_ptr<ssl_ctx_st>;

/// Reads the files of a config for TLS 1.3. If a file cannot be used, returns null and adds
/// problems, which name the config key `key`.
[[nodiscard]] TlsCertificates open_tls(const TlsConfig& config, const std::string& key,
                                       Problems& problems);

}  // namespace pinstrike::actors::peer
