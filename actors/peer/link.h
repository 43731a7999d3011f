// path: cold
//
// A session's socket: carries its bytes, plain or under TLS, and tells when they can be carried no
// more. Everything happens within the poll of the io_context that the socket belongs to.
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
#include <vector>

namespace pinstrike::actors::peer {

enum class Role : std::uint8_t;

/// A connected socket.
class Channel {
  public:
    using Done = std::function<void(const asio::error_code&, std::size_t)>;

    virtual ~Channel() = default;
    /// To be called first: the two ends agree on how they talk.
    virtual void start(Role role, std::function<void(const asio::error_code&)> done) = 0;
    virtual void read(std::span<std::byte> into, Done done) = 0;
    /// All of it.
    virtual void write(std::span<const std::byte> from, Done done) = 0;
    /// Handshake::channel.
    [[nodiscard]] virtual std::vector<std::byte> keying_material() = 0;
    /// Nothing more will be sent.
    virtual void shut() = 0;
    virtual void close() = 0;
};

/// `tls` null: plain.
[[nodiscard]] std::unique_ptr<Channel> make_channel(asio::ip::tcp::socket socket,
                                                    asio::ssl::context* tls);

/// What a link carries the bytes of.
class LinkEnd {
  public:
    virtual ~LinkEnd() = default;
    /// Both ends agreed; the session begins.
    virtual void begun(std::vector<std::byte> keying_material) = 0;
    virtual void received(std::span<const std::byte> bytes) = 0;
    [[nodiscard]] virtual std::span<const std::byte> output() const = 0;
    virtual void sent(std::size_t count) = 0;
    /// After its output nothing more comes.
    [[nodiscard]] virtual bool ended() const = 0;
};

class Link : public std::enable_shared_from_this<Link> {
  public:
    /// The end must live until leave().
    Link(std::unique_ptr<Channel> channel, LinkEnd& end);

    void start(Role role);

    /// Sends what there is to send; where the end has ended, then shuts this side.
    void flush();

    /// No byte will come or go any more.
    [[nodiscard]] bool closed() const { return closed_; }

    /// Why it closed; empty where the other side did so in order.
    [[nodiscard]] const std::string& fault() const { return fault_; }

    void close();

    /// The end is told nothing any more.
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

/// Runs what is ready, but not for long. How much was done.
std::size_t poll(asio::io_context& io);

[[nodiscard]] asio::ip::tcp::endpoint endpoint_of(const nic::Group& at);

}  // namespace pinstrike::actors::peer
