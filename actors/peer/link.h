// path: cold
//
// The socket of a session. It sends and receives the bytes of the session, with or without TLS, and
// reports when the connection is closed. All callbacks run within poll() of the socket's
// io_context.
#pragma once

#include "actors/peer/peer_config.h"

#include <asio/error_code.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/ssl/context.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pinstrike::actors::peer {

enum class Role : std::uint8_t;

/// A connected socket, with or without TLS.
class Channel {
  public:
    using Done = std::function<void(const asio::error_code&, std::size_t)>;

    virtual ~Channel() = default;
    /// Must be called first. Performs the TLS handshake if the channel uses TLS.
    virtual void start(Role role, std::function<void(const asio::error_code&)> done) = 0;
    virtual void read(std::span<std::byte> into, Done done) = 0;
    /// Calls `done` once all bytes are written.
    virtual void write(std::span<const std::byte> from, Done done) = 0;
    /// Returns the value of Handshake::channel.
    [[nodiscard]] virtual std::vector<std::byte> keying_material() = 0;
    /// Shuts down the sending direction.
    virtual void shut() = 0;
    virtual void close() = 0;
};

/// If `tls` is null, the channel is not encrypted.
[[nodiscard]] std::unique_ptr<Channel> make_channel(asio::ip::tcp::socket socket,
                                                    asio::ssl::context* tls);

/// The owner of a link. Its session produces and consumes the bytes.
class LinkEnd {
  public:
    virtual ~LinkEnd() = default;
    /// Called when the connection is established, including TLS. The session starts here.
    virtual void begun(std::vector<std::byte> keying_material) = 0;
    virtual void received(std::span<const std::byte> bytes) = 0;
    [[nodiscard]] virtual std::span<const std::byte> output() const = 0;
    virtual void sent(std::size_t count) = 0;
    /// True if the session has ended. It then produces no output beyond output().
    [[nodiscard]] virtual bool ended() const = 0;
};

class Link : public std::enable_shared_from_this<Link> {
  public:
    /// `end` must live until leave() is called.
    Link(std::unique_ptr<Channel> channel, LinkEnd& end);

    void start(Role role);

    /// Sends the pending output. Shuts down the sending direction once the session has ended and
    /// all output is sent.
    void flush();

    /// True if the socket is closed in both directions.
    [[nodiscard]] bool closed() const { return closed_; }

    /// The error that closed the socket; empty: the other side closed the connection normally.
    [[nodiscard]] const std::string& fault() const { return fault_; }

    /// `sentence`, followed by the fault if there is one.
    [[nodiscard]] std::string with_fault(std::string_view sentence) const;

    void close();

    /// Closes the socket and makes no further calls to the LinkEnd.
    void leave();

  private:
    void read();
    void fail(const asio::error_code& error);

    std::unique_ptr<Channel> channel_;
    LinkEnd* end_;
    std::array<std::byte, 16 * 1024> in_;
    std::vector<std::byte> out_;
    bool begun_ = false;
    bool writing_ = false;
    bool shut_ = false;
    bool closed_ = false;
    std::string fault_;
};

/// Runs a bounded number of ready handlers. Returns how many ran.
std::size_t poll(asio::io_context& io);

[[nodiscard]] asio::ip::tcp::endpoint endpoint_of(const nic::Group& at);

}  // namespace pinstrike::actors::peer
