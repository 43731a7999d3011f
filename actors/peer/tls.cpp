// path: cold
#include "actors/peer/tls.h"

#include "actors/peer/secret_file.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <cstring>

namespace pinstrike::actors::peer {

namespace {

/// The text of OpenSSL's latest error, as "no start line (PEM routines)".
std::string error_text() {
    const unsigned long error = ::ERR_get_error();
    if (ERR_SYSTEM_ERROR(error)) {
        return std::strerror(ERR_GET_REASON(error));
    }
    const char* const reason = ::ERR_reason_error_string(error);
    const char* const library = ::ERR_lib_error_string(error);
    return reason == nullptr ? "unknown error"
                             : fmt::format("{} ({})", reason, library == nullptr ? "" : library);
}

}  // namespace

TlsCertificates open_tls(const TlsConfig& config, const std::string& key, Problems& problems) {
    const std::size_t before = problems.size();
    TlsCertificates tls{::SSL_CTX_new(::TLS_method()), ::SSL_CTX_free};
    SSL_CTX* const context = tls.get();
    const auto use = [&](const char* part, const std::string& file, auto&& read) {
        ::ERR_clear_error();
        if (read(file.c_str()) != 1) {
            add_problem(problems, Place{},
                        fmt::format("{}.{}: {}: {}", key, part, file, error_text()));
        }
    };
    use("certificate", config.certificate, [context](const char* file) {
        return ::SSL_CTX_use_certificate_chain_file(context, file);
    });
    if (check_private(key + ".key", config.key, problems)) {
        use("key", config.key, [context](const char* file) {
            return ::SSL_CTX_use_PrivateKey_file(context, file, SSL_FILETYPE_PEM);
        });
    }
    use("authority", config.authority, [context](const char* file) {
        return ::SSL_CTX_load_verify_locations(context, file, nullptr);
    });
    ::SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    // A session cannot be resumed without tickets, so each connection performs a full handshake.
    ::SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_CIPHER_SERVER_PREFERENCE);
    // AES with 128 bits first, because it takes less time than with 256. An OpenSSL that refuses
    // this list keeps its own.
    static_cast<void>(::SSL_CTX_set_ciphersuites(
        context, "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"));
    if (::SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) != 1) {
        add_problem(problems, Place{}, key + ": this OpenSSL does not support TLS 1.3");
    }
    return problems.size() == before ? tls : nullptr;
}

}  // namespace pinstrike::actors::peer
