// path: cold
//
// TLS on a TCP socket for one thread that never waits in it: each call does what is possible now.
// SIGPIPE must be ignored.
#pragma once

#include "actors/peer/peer_config.h"
#include "config/problem.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace pinstrike::actors::peer {

/// Certificates for connections in both directions, in which both sides need a certificate that the
/// authority signed.
class TlsCertificates {
  public:
    /// `key` is the config key that has the files. Null, with problems.
    [[nodiscard]] static std::unique_ptr<TlsCertificates> open(const TlsConfig& config,
                                                               const std::string& key,
                                                               Problems& problems);
    ~TlsCertificates();
    TlsCertificates(const TlsCertificates&) = delete;
    TlsCertificates& operator=(const TlsCertificates&) = delete;

  private:
    friend class TlsSocket;
    struct Context;
    explicit TlsCertificates(std::unique_ptr<Context> context);

    std::unique_ptr<Context> context_;
};

class TlsSocket {
  public:
    /// Takes over a connected socket, or one that is being connected.
    TlsSocket(int descriptor, const TlsCertificates& certificates, bool is_server);
    ~TlsSocket();
    TlsSocket(const TlsSocket&) = delete;
    TlsSocket& operator=(const TlsSocket&) = delete;

    enum class State : std::uint8_t {
        opening,  ///< the handshake is not complete
        open,
        closed,  ///< by the other side
        failed,  ///< see fault()
    };

    /// Continues the handshake.
    State advance();

    [[nodiscard]] State state() const { return state_; }

    /// Returns how many bytes were received; 0: none now, or see state().
    std::size_t read(std::span<std::byte> into);

    /// Receives and drops bytes; called until the other side closes the connection. If this side
    /// closed it with bytes that nobody has read, the kernel would reset it, and the other side
    /// would lose what was sent last. Returns how many bytes were dropped.
    std::size_t skip();

    /// Returns how many bytes were sent; 0: none now, or see state().
    std::size_t write(std::span<const std::byte> from);

    [[nodiscard]] int descriptor() const { return descriptor_; }

    /// Whether the socket must become writable before more can be done.
    [[nodiscard]] bool waits_to_write() const { return waits_to_write_; }

    [[nodiscard]] const std::string& fault() const { return fault_; }

  private:
    struct Session;
    void judge(int result);

    int descriptor_;
    std::unique_ptr<Session> session_;
    State state_ = State::opening;
    bool waits_to_write_ = false;
    std::string fault_;
};

}  // namespace pinstrike::actors::peer
