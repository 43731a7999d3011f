// path: cold
#include "actors/peer/channel.h"

#include "actors/peer/peer_session.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

namespace pinstrike::actors::peer {

void Channel::Free::operator()(ssl_st* ssl) const {
    ::SSL_free(ssl);
}

Channel::Channel(nic::FileDescriptor socket, ssl_ctx_st* tls, bool is_server)
    : socket_(std::move(socket)) {
    const int flags = ::fcntl(descriptor(), F_GETFL);
    ::fcntl(descriptor(), F_SETFL, flags | O_NONBLOCK);
    const int on = 1;
    ::setsockopt(descriptor(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (tls == nullptr) {
        state_ = State::open;
        return;
    }
    ssl_.reset(::SSL_new(tls));
    SSL* const ssl = ssl_.get();
    if (ssl == nullptr || ::SSL_set_fd(ssl, descriptor()) != 1) {
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

Channel::~Channel() {
    if (ssl_ && state_ == State::open) {
        ::ERR_clear_error();
        static_cast<void>(::SSL_shutdown(ssl_.get()));
    }
}

Channel::State Channel::advance() {
    if (state_ == State::opening) {
        ::ERR_clear_error();
        errno = 0;
        const int result = ::SSL_do_handshake(ssl_.get());
        waits_to_write_ = false;
        if (result == 1) {
            state_ = State::open;
        } else {
            judge(result);
        }
    }
    return state_;
}

/// Calls some(done, count) until all bytes have moved, or no more can now. It sets how many bytes
/// it moved, and returns 1 if there were any.
template <class Some>
std::size_t Channel::move(std::size_t bytes, Some&& some) {
    std::size_t done = 0;
    while (state_ == State::open && done < bytes) {
        ::ERR_clear_error();
        errno = 0;
        std::size_t count = 0;
        const int result = some(done, count);
        if (result != 1) {
            judge(result);
            break;
        }
        done += count;
    }
    return done;
}

std::size_t Channel::read(std::span<std::byte> into) {
    return move(into.size(), [&](std::size_t done, std::size_t& count) {
        const auto rest = into.subspan(done);
        if (ssl_) {
            return ::SSL_read_ex(ssl_.get(), rest.data(), rest.size(), &count);
        }
        const ssize_t some = ::recv(descriptor(), rest.data(), rest.size(), 0);
        count = some > 0 ? static_cast<std::size_t>(some) : 0;
        return some > 0 ? 1 : static_cast<int>(some);
    });
}

std::size_t Channel::skip() {
    std::array<std::byte, std::size_t{16} << 10> bytes;
    return read(bytes);
}

std::size_t Channel::write(std::span<const std::byte> from) {
    waits_to_write_ = false;
    return move(from.size(), [&](std::size_t done, std::size_t& count) {
        const auto rest = from.subspan(done);
        if (ssl_) {
            return ::SSL_write_ex(ssl_.get(), rest.data(), rest.size(), &count);
        }
        const ssize_t some = ::send(descriptor(), rest.data(), rest.size(), MSG_NOSIGNAL);
        count = some > 0 ? static_cast<std::size_t>(some) : 0;
        return some > 0 ? 1 : static_cast<int>(some);
    });
}

std::size_t Channel::write_output(PeerSession& session, std::int64_t now_ns) {
    const std::size_t count = write(session.output());
    if (count != 0) {
        session.sent(count, now_ns);
    }
    if (session.ended() && session.output().empty()) {
        ::shutdown(descriptor(), SHUT_WR);
    }
    return count;
}

std::vector<std::byte> Channel::keying_material() {
    if (!ssl_) {
        return {};
    }
    constexpr std::string_view label = "EXPORTER-pinstrike-peer";
    std::vector<std::byte> material(32);
    const int exported = ::SSL_export_keying_material(
        ssl_.get(),
        reinterpret_cast<unsigned char*>(material.data()),  // tidy: bytes as OpenSSL names them
        material.size(), label.data(), label.size(), nullptr, 0, 0);
    if (exported != 1) {
        state_ = State::failed;
        fault_ = "TLS exports no keying material";
    }
    return material;
}

std::string Channel::with_fault(std::string_view sentence) const {
    std::string text{sentence};
    return fault_.empty() ? text : text + ": " + fault_;
}

void Channel::judge(int result) {
    const int system_error = errno;
    if (!ssl_) {
        if (result == 0 || (system_error != EAGAIN && system_error != EINTR)) {
            end(result == 0 ? 0 : system_error);
        }
        return;
    }
    switch (::SSL_get_error(ssl_.get(), result)) {
        case SSL_ERROR_WANT_READ:
            return;
        case SSL_ERROR_WANT_WRITE:
            waits_to_write_ = true;
            return;
        case SSL_ERROR_ZERO_RETURN:
            return end(0);
        case SSL_ERROR_SYSCALL:
            // While connect() is under way, the socket has no connection yet.
            if (system_error == ENOTCONN || system_error == EINPROGRESS) {
                waits_to_write_ = true;
                return;
            }
            return end(system_error);
        default: {
            const unsigned long error = ::ERR_get_error();
            if (ERR_GET_REASON(error) == SSL_R_UNEXPECTED_EOF_WHILE_READING) {
                return end(0);
            }
            const char* const reason = ::ERR_reason_error_string(error);
            state_ = State::failed;
            fault_ = reason != nullptr ? reason : "TLS failed";
        }
    }
}

/// `error`: an errno; 0: the other side closed the connection.
void Channel::end(int error) {
    state_ = error == 0 ? State::closed : State::failed;
    fault_ = error == 0 ? "" : std::strerror(error);
}

}  // namespace pinstrike::actors::peer
