// path: cold
//
// A TCP socket with or without TLS, for one thread that never waits in it: each call does what is
// possible now. SIGPIPE must be ignored.
#pragma once

#include "nic/file_descriptor.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Of OpenSSL.
struct ssl_ctx_st;
struct ssl_st;

namespace pinstrike::actors::peer {

class PeerSession;

class Channel {
  public:
    /// Takes over a connected socket, with TLS also one that is being connected. If `tls` is null,
    /// the bytes are not encrypted.
    Channel(nic::FileDescriptor socket, ssl_ctx_st* tls, bool is_server);
    ~Channel();
    Channel(const Channel&) = delete;
    Channel& operator=(const Channel&) = delete;

    enum class State : std::uint8_t {
        opening,  ///< the TLS handshake is not complete
        open,
        closed,  ///< by the other side
        failed,  ///< see fault()
    };

    /// Continues the handshake.
    State advance();

    [[nodiscard]] State state() const { return state_; }

    [[nodiscard]] bool is_over() const {
        return state_ == State::closed || state_ == State::failed;
    }

    /// Returns how many bytes were received; 0: none now, or see state().
    std::size_t read(std::span<std::byte> into);

    /// Receives and drops bytes; called until the other side closes the connection. If this side
    /// closed it with bytes that nobody has read, the kernel would reset it, and the other side
    /// would lose what was sent last. Returns how many bytes were dropped.
    std::size_t skip();

    /// Returns how many bytes were sent; 0: none now, or see state().
    std::size_t write(std::span<const std::byte> from);

    /// Sends the output of a session. When it has ended and all is sent, ends the sending
    /// direction. Returns how many bytes were sent.
    std::size_t write_output(PeerSession& session, std::int64_t now_ns);

    /// Moves bytes in both directions, a bounded number: receive(bytes) gets those of the other
    /// side. Returns their number.
    template <class Receive>
    std::size_t pass(PeerSession& session, std::int64_t now_ns, Receive&& receive) {
        constexpr unsigned pieces_max = 16;
        std::array<std::byte, std::size_t{16} << 10> piece;
        std::size_t done = write_output(session, now_ns);
        for (unsigned i = 0; i < pieces_max; ++i) {
            const std::size_t count = read(piece);
            if (count == 0) {
                break;
            }
            receive(std::span<const std::byte>{piece}.first(count));
            done += count + write_output(session, now_ns);
        }
        return done;
    }

    /// The value of Handshake::channel.
    [[nodiscard]] std::vector<std::byte> keying_material();

    [[nodiscard]] int descriptor() const { return socket_.get(); }

    /// With TLS: whether the socket must become writable before more can be done.
    [[nodiscard]] bool waits_to_write() const { return waits_to_write_; }

    /// The error that ended the connection; empty: there was none.
    [[nodiscard]] const std::string& fault() const { return fault_; }

    /// `sentence`, followed by the fault if there is one.
    [[nodiscard]] std::string with_fault(std::string_view sentence) const;

  private:
    struct Free {
        void operator()(ssl_st* ssl) const;
    };

    template <class Some>
    std::size_t move(std::size_t bytes, Some&& some);
    void judge(int result);
    void end(int error);

    nic::FileDescriptor socket_;
    std::unique_ptr<ssl_st, Free> ssl_;  ///< null: no TLS
    State state_ = State::opening;
    bool waits_to_write_ = false;
    std::string fault_;
};

}  // namespace pinstrike::actors::peer
