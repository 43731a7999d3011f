// path: cold
#include "actors/peer/tls_socket.h"

#include "actors/peer/tls.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

namespace pinstrike::actors::peer {

struct TlsCertificates::Context {
    std::unique_ptr<asio::ssl::context> context;
};

TlsCertificates::TlsCertificates(std::unique_ptr<Context> context) : context_(std::move(context)) {}

TlsCertificates::~TlsCertificates() = default;

std::unique_ptr<TlsCertificates> TlsCertificates::open(const TlsConfig& config,
                                                       const std::string& key, Problems& problems) {
    auto context = open_tls(config, key, problems);
    if (context == nullptr) {
        return nullptr;
    }
    return std::unique_ptr<TlsCertificates>{
        new TlsCertificates{std::make_unique<Context>(std::move(context))}};
}

struct TlsSocket::Session {
    explicit Session(SSL_CTX* context) : ssl(::SSL_new(context)) {}

    ~Session() { ::SSL_free(ssl); }

    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    SSL* ssl;
};

TlsSocket::TlsSocket(int descriptor, const TlsCertificates& certificates, bool is_server)
    : descriptor_(descriptor),
      session_(std::make_unique<Session>(certificates.context_->context->native_handle())) {
    const int flags = ::fcntl(descriptor, F_GETFL);
    ::fcntl(descriptor, F_SETFL, flags | O_NONBLOCK);
    const int on = 1;
    ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    SSL* const ssl = session_->ssl;
    if (ssl == nullptr || ::SSL_set_fd(ssl, descriptor) != 1) {
        state_ = State::failed;
        fault_ = "no memory for TLS";
        return;
    }
    ::SSL_set_mode(ssl, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    // A system call receives up to four records. With each record, OpenSSL moves all bytes that it
    // has not decrypted yet, so a larger buffer takes longer.
    constexpr std::size_t read_buffer_bytes = std::size_t{64} << 10;
    ::SSL_set_read_ahead(ssl, 1);
    ::SSL_set_default_read_buffer_len(ssl, read_buffer_bytes);
    is_server ? ::SSL_set_accept_state(ssl) : ::SSL_set_connect_state(ssl);
}

TlsSocket::~TlsSocket() {
    if (state_ == State::open) {
        ::ERR_clear_error();
        static_cast<void>(::SSL_shutdown(session_->ssl));
    }
    session_.reset();
    ::close(descriptor_);
}

TlsSocket::State TlsSocket::advance() {
    if (state_ == State::opening) {
        ::ERR_clear_error();
        errno = 0;
        const int result = ::SSL_do_handshake(session_->ssl);
        waits_to_write_ = false;
        if (result == 1) {
            state_ = State::open;
        } else {
            judge(result);
        }
    }
    return state_;
}

std::size_t TlsSocket::read(std::span<std::byte> into) {
    std::size_t count = 0;
    while (state_ == State::open && count < into.size()) {
        ::ERR_clear_error();
        errno = 0;
        std::size_t some = 0;
        const int result =
            ::SSL_read_ex(session_->ssl, into.data() + count, into.size() - count, &some);
        if (result != 1) {
            judge(result);
            break;
        }
        count += some;
    }
    return count;
}

std::size_t TlsSocket::skip() {
    std::array<std::byte, std::size_t{16} << 10> bytes;
    return read(bytes);
}

std::size_t TlsSocket::write(std::span<const std::byte> from) {
    std::size_t count = 0;
    waits_to_write_ = false;
    while (state_ == State::open && count < from.size()) {
        ::ERR_clear_error();
        errno = 0;
        std::size_t some = 0;
        const int result =
            ::SSL_write_ex(session_->ssl, from.data() + count, from.size() - count, &some);
        if (result != 1) {
            judge(result);
            break;
        }
        count += some;
    }
    return count;
}

void TlsSocket::judge(int result) {
    const int system_error = errno;
    switch (::SSL_get_error(session_->ssl, result)) {
        case SSL_ERROR_WANT_READ:
            return;
        case SSL_ERROR_WANT_WRITE:
            waits_to_write_ = true;
            return;
        case SSL_ERROR_ZERO_RETURN:
            state_ = State::closed;
            return;
        case SSL_ERROR_SYSCALL:
            // While connect() is under way, the socket has no connection yet.
            if (system_error == ENOTCONN || system_error == EINPROGRESS) {
                waits_to_write_ = true;
                return;
            }
            state_ = system_error == 0 ? State::closed : State::failed;
            fault_ = system_error == 0 ? "" : std::strerror(system_error);
            return;
        default: {
            const unsigned long error = ::ERR_get_error();
            const bool truncated = ERR_GET_REASON(error) == SSL_R_UNEXPECTED_EOF_WHILE_READING;
            state_ = truncated ? State::closed : State::failed;
            const char* const reason = ::ERR_reason_error_string(error);
            fault_ = truncated ? "" : reason != nullptr ? reason : "TLS failed";
        }
    }
}

}  // namespace pinstrike::actors::peer
