// path: cold
#include "actors/peer/tls.h"

#include "actors/peer/secret_file.h"

#include <fmt/format.h>
#include <openssl/ssl.h>

namespace pinstrike::actors::peer {

std::unique_ptr<asio::ssl::context> open_tls(const TlsConfig& config, const std::string& key,
                                             Problems& problems) {
    const std::size_t before = problems.size();
    auto context = std::make_unique<asio::ssl::context>(asio::ssl::context::tls);
    const auto check = [&](const char* part, const std::string& file,
                           const asio::error_code& error) {
        if (error) {
            add_problem(problems, Place{},
                        fmt::format("{}.{}: {}: {}", key, part, file, error.message()));
        }
    };
    asio::error_code error;
    context->use_certificate_chain_file(config.certificate, error);
    check("certificate", config.certificate, error);
    if (check_private(key + ".key", config.key, problems)) {
        context->use_private_key_file(config.key, asio::ssl::context::pem, error);
        check("key", config.key, error);
    }
    context->load_verify_file(config.authority, error);
    check("authority", config.authority, error);
    context->set_verify_mode(asio::ssl::verify_peer | asio::ssl::verify_fail_if_no_peer_cert,
                             error);
    // A session cannot be resumed without tickets, so each connection performs a full handshake.
    ::SSL_CTX_set_options(context->native_handle(), SSL_OP_NO_TICKET);
    // AES with 128 bits first, because it takes less time than with 256. An OpenSSL that refuses
    // this list keeps its own.
    static_cast<void>(::SSL_CTX_set_ciphersuites(
        context->native_handle(),
        "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"));
    ::SSL_CTX_set_options(context->native_handle(), SSL_OP_CIPHER_SERVER_PREFERENCE);
    if (::SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_3_VERSION) != 1) {
        add_problem(problems, Place{}, key + ": this OpenSSL does not support TLS 1.3");
    }
    return problems.size() == before ? std::move(context) : nullptr;
}

}  // namespace pinstrike::actors::peer
