// path: cold
//
// The sockets of the gateway: one listener and its connections, by io_uring. One thread uses it.
// No call blocks, except wait().
#pragma once

#include "config/counter.h"
#include "config/problem.h"
#include "nic/file_descriptor.h"
#include "nic/packet/address.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace pinstrike::actors::gateway {

/// What happens on the sockets.
class SocketEvents {
  public:
    virtual ~SocketEvents() = default;

    /// A connection was accepted; false: close it at once.
    [[nodiscard]] virtual bool accepted(std::uint32_t connection, const std::string& address) = 0;
    virtual void received(std::uint32_t connection, std::span<const std::byte> bytes) = 0;

    /// Whether more bytes may come; false: after SocketServer::resume().
    [[nodiscard]] virtual bool takes_more(std::uint32_t connection) const {
        static_cast<void>(connection);
        return true;
    }

    /// The first `count` bytes of the last send() were sent.
    virtual void sent(std::uint32_t connection, std::size_t count) = 0;
    /// Nothing of this connection comes after this call. Its number is used again.
    virtual void closed(std::uint32_t connection) = 0;
};

class SocketServer {
  public:
    /// Listens at an address; port 0: any, see port(). Uses the socket `inherited` of an earlier
    /// process if it listens there; -1: there is none. Null, with a Problem.
    [[nodiscard]] static std::unique_ptr<SocketServer> open(const nic::Group& at, int inherited,
                                                            std::size_t connections_max,
                                                            SocketEvents& events,
                                                            Problems& problems);
    ~SocketServer();

    SocketServer(const SocketServer&) = delete;
    SocketServer& operator=(const SocketServer&) = delete;

    /// Submits what was asked and reports what has happened. Returns the number of events.
    std::size_t poll();

    /// Sleeps until something happens on a socket, or for `timeout_ns`.
    void wait(std::int64_t timeout_ns);

    /// Accepts no connection any more, so that a client that connects again reaches the next
    /// process: it waits for it if that process inherits the socket (`kept`), else it is refused.
    void stop_accepting(bool kept);

    /// The socket that listens.
    [[nodiscard]] int listener() const { return listener_.get(); }

    /// Sends bytes, which must stay valid until sent() or closed(). One send at a time.
    void send(std::uint32_t connection, std::span<const std::byte> bytes);

    [[nodiscard]] bool is_sending(std::uint32_t connection) const {
        return connections_[connection]->sending;
    }

    /// Receives again, if it does not.
    void resume(std::uint32_t connection);

    /// Ends the sending direction, as a plain end. The connection is closed when the client closes
    /// it, or by abort().
    void finish(std::uint32_t connection);

    /// Closes the connection; closed() follows from a later poll(). The client sees a reset unless
    /// everything was sent, also if the process dies: clients connect again after a reset.
    void abort(std::uint32_t connection);

    [[nodiscard]] std::uint16_t port() const { return port_; }

    [[nodiscard]] std::size_t connections() const { return connections_.size() - free_.size(); }

    /// Connections that were not accepted: descriptors ran out, too many are open, or the events'
    /// owner refused them.
    [[nodiscard]] const Counter& refused() const { return refused_; }

  private:
    struct Connection {
        nic::FileDescriptor descriptor;
        bool receiving = false;
        bool sending = false;
        bool ending = false;
        std::array<std::byte, 16384> in;
    };

    struct Ring;

    SocketServer(SocketEvents& events, std::size_t connections_max);

    bool listen(const nic::Group& at, int inherited, Problems& problems);
    void arm_accept();
    void arm_receive(std::uint32_t connection);
    void on_accept(int result, bool more);
    void on_receive(std::uint32_t connection, int result);
    void on_send(std::uint32_t connection, int result);
    void close_if_idle(std::uint32_t connection);

    SocketEvents& events_;
    std::size_t connections_max_;
    std::unique_ptr<Ring> ring_;
    nic::FileDescriptor listener_;
    std::uint16_t port_ = 0;
    bool accepting_ = false;
    bool stopped_ = false;  ///< stop_accepting() was called
    std::chrono::steady_clock::time_point accept_again_;
    std::vector<std::unique_ptr<Connection>> connections_;  ///< null: the number is free
    std::vector<std::uint32_t> free_;
    std::vector<std::uint32_t> aborted_;  ///< since the last poll()
    Counter refused_;
};

}  // namespace pinstrike::actors::gateway
