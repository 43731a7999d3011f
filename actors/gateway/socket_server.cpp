// path: cold
#include "actors/gateway/socket_server.h"

#include "actors/peer/tcp.h"
#include "config/check.h"

#include <fmt/format.h>
#include <liburing.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace pinstrike::actors::gateway {
namespace {

enum class Operation : std::uint8_t { accept, receive, send, cancel };

constexpr unsigned ring_entries = 1024;

std::uint64_t tag_of(Operation operation, std::uint32_t connection) {
    return std::uint64_t{connection} << 8 | static_cast<std::uint64_t>(operation);
}

std::string address_of(int descriptor) {
    const nic::Group client = peer::remote_address(descriptor);
    return client == nic::Group{} ? "unknown" : nic::text_of(client.address);
}

/// Whether a close resets the connection.
void set_reset(int descriptor, bool resets) {
    const linger value{.l_onoff = resets ? 1 : 0, .l_linger = 0};
    ::setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &value, sizeof value);
}

/// Finds clients whose host is gone: idle ones after two minutes, others when what was sent stays
/// unacknowledged for five. A client that does not read for five minutes ends too.
void set_dead_peer_limits(int descriptor) {
    constexpr int on = 1;
    constexpr int idle_s = 60;
    constexpr int probe_s = 20;
    constexpr int probes = 3;
    constexpr unsigned unacknowledged_ms = 300'000;
    ::setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    ::setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
    ::setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, &probe_s, sizeof probe_s);
    ::setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
    ::setsockopt(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, &unacknowledged_ms,
                 sizeof unacknowledged_ms);
}

/// Whether a socket listens at an address.
bool listens_at(int descriptor, const nic::Group& at) {
    int accepts = 0;
    socklen_t size = sizeof accepts;
    return ::getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &accepts, &size) == 0 &&
           accepts == 1 && peer::local_address(descriptor) == at;
}

}  // namespace

struct SocketServer::Ring {
    io_uring ring{};
    bool open = false;

    ~Ring() {
        if (open) {
            ::io_uring_queue_exit(&ring);
        }
    }

    /// A free entry. The queue is submitted if it is full.
    io_uring_sqe& entry() {
        io_uring_sqe* sqe = ::io_uring_get_sqe(&ring);
        while (sqe == nullptr) {
            ::io_uring_submit(&ring);
            sqe = ::io_uring_get_sqe(&ring);
        }
        return *sqe;
    }
};

SocketServer::SocketServer(SocketEvents& events, std::size_t connections_max)
    : events_(events), connections_max_(connections_max), ring_(std::make_unique<Ring>()) {}

SocketServer::~SocketServer() {
    ring_.reset();  // cancels what is open, so that no buffer is written any more
}

std::unique_ptr<SocketServer> SocketServer::open(const nic::Group& at, int inherited,
                                                 std::size_t connections_max, SocketEvents& events,
                                                 Problems& problems) {
    std::unique_ptr<SocketServer> server{new SocketServer{events, connections_max}};
    const int error = -::io_uring_queue_init(ring_entries, &server->ring_->ring, 0);
    if (error != 0) {
        add_problem(problems, "",
                    fmt::format("cannot make an io_uring: {}; expected Linux 5.19 or newer that "
                                "allows it (kernel.io_uring_disabled = 0)",
                                std::strerror(error)),
                    remedy_of(error));
        return nullptr;
    }
    server->ring_->open = true;
    if (!server->listen(at, inherited, problems)) {
        return nullptr;
    }
    server->arm_accept();
    return server;
}

bool SocketServer::listen(const nic::Group& at, int inherited, Problems& problems) {
    constexpr int backlog = 1024;
    listener_ = nic::FileDescriptor{inherited};
    if (!listener_.valid() || !listens_at(inherited, at)) {
        listener_ = nic::FileDescriptor{};  // the new one may need its port
        listener_ = peer::listen_at(at, backlog, 0);
    }
    if (!listener_.valid()) {
        add_problem(
            problems, "",
            fmt::format("address: cannot listen at {}: {}", nic::text_of(at), std::strerror(errno)),
            Remedy::retry);
        return false;
    }
    port_ = peer::local_address(listener()).port;
    return true;
}

void SocketServer::arm_accept() {
    io_uring_sqe& sqe = ring_->entry();
    ::io_uring_prep_multishot_accept(&sqe, listener(), nullptr, nullptr, SOCK_CLOEXEC);
    sqe.user_data = tag_of(Operation::accept, 0);
    accepting_ = true;
}

void SocketServer::stop_accepting(bool kept) {
    constexpr std::int64_t turn_ns = 1'000'000;
    stopped_ = true;
    if (!kept) {
        ::shutdown(listener(), SHUT_RDWR);
    }
    io_uring_sqe& sqe = ring_->entry();
    ::io_uring_prep_cancel64(&sqe, tag_of(Operation::accept, 0), 0);
    sqe.user_data = tag_of(Operation::cancel, 0);
    for (int turn = 0; accepting_ && turn < 100; ++turn) {
        poll();
        wait(turn_ns);
    }
}

void SocketServer::arm_receive(std::uint32_t connection) {
    Connection& at = *connections_[connection];
    io_uring_sqe& sqe = ring_->entry();
    ::io_uring_prep_recv(&sqe, at.descriptor.get(), at.in.data(), at.in.size(), 0);
    sqe.user_data = tag_of(Operation::receive, connection);
    at.receiving = true;
}

void SocketServer::send(std::uint32_t connection, std::span<const std::byte> bytes) {
    Connection& at = *connections_[connection];
    PINSTRIKE_CHECK(!at.sending && !bytes.empty());
    io_uring_sqe& sqe = ring_->entry();
    ::io_uring_prep_send(&sqe, at.descriptor.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    sqe.user_data = tag_of(Operation::send, connection);
    at.sending = true;
}

void SocketServer::resume(std::uint32_t connection) {
    const Connection& at = *connections_[connection];
    if (!at.receiving && !at.ending) {
        arm_receive(connection);
    }
}

void SocketServer::finish(std::uint32_t connection) {
    set_reset(connections_[connection]->descriptor.get(), false);
    ::shutdown(connections_[connection]->descriptor.get(), SHUT_WR);
}

/// Open operations end when the socket is shut down, and the socket is closed after the last one.
void SocketServer::abort(std::uint32_t connection) {
    Connection& at = *connections_[connection];
    at.ending = true;
    ::shutdown(at.descriptor.get(), SHUT_RDWR);
    aborted_.push_back(connection);
}

void SocketServer::close_if_idle(std::uint32_t connection) {
    if (connections_[connection] == nullptr) {
        return;
    }
    const Connection& at = *connections_[connection];
    if (at.ending && !at.receiving && !at.sending) {
        connections_[connection] = nullptr;
        free_.push_back(connection);
        events_.closed(connection);
    }
}

std::size_t SocketServer::poll() {
    if (!accepting_ && !stopped_ && std::chrono::steady_clock::now() >= accept_again_) {
        arm_accept();
    }
    if (::io_uring_sq_ready(&ring_->ring) != 0) {
        ::io_uring_submit(&ring_->ring);
    }
    std::array<io_uring_cqe*, 64> done{};
    const unsigned count = ::io_uring_peek_batch_cqe(&ring_->ring, done.data(), done.size());
    for (unsigned i = 0; i < count; ++i) {
        const std::uint64_t tag = done[i]->user_data;
        const int result = done[i]->res;
        const bool more = (done[i]->flags & IORING_CQE_F_MORE) != 0;
        ::io_uring_cqe_seen(&ring_->ring, done[i]);
        const auto connection = static_cast<std::uint32_t>(tag >> 8);
        switch (static_cast<Operation>(tag & 0xFF)) {
            case Operation::accept:
                on_accept(result, more);
                break;
            case Operation::receive:
                on_receive(connection, result);
                break;
            case Operation::send:
                on_send(connection, result);
                break;
            case Operation::cancel:
                break;
        }
    }
    for (const std::uint32_t connection : std::exchange(aborted_, {})) {
        close_if_idle(connection);  // if it had no operation that ends
    }
    return count;
}

void SocketServer::wait(std::int64_t timeout_ns) {
    __kernel_timespec timeout{.tv_sec = timeout_ns / 1'000'000'000,
                              .tv_nsec = timeout_ns % 1'000'000'000};
    io_uring_cqe* done = nullptr;
    ::io_uring_submit_and_wait_timeout(&ring_->ring, &done, 1, &timeout, nullptr);
}

void SocketServer::on_accept(int result, bool more) {
    accepting_ = more;
    if (result < 0 && stopped_) {
        return;
    }
    if (result < 0) {  // descriptors ran out
        refused_.add();
        accept_again_ = std::chrono::steady_clock::now() + std::chrono::milliseconds{100};
        return;
    }
    if (stopped_ || connections() >= connections_max_) {
        refused_.add();
        ::close(result);
        return;
    }
    if (free_.empty()) {
        free_.push_back(static_cast<std::uint32_t>(connections_.size()));
        connections_.emplace_back();
    }
    const std::uint32_t connection = free_.back();
    free_.pop_back();
    connections_[connection].reset(new Connection);  // its buffer needs no zeros
    connections_[connection]->descriptor = nic::FileDescriptor{result};
    const int on = 1;
    set_reset(result, true);
    set_dead_peer_limits(result);
    ::setsockopt(result, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    arm_receive(connection);
    if (!events_.accepted(connection, address_of(result))) {
        refused_.add();
        abort(connection);
    }
}

void SocketServer::on_receive(std::uint32_t connection, int result) {
    Connection& at = *connections_[connection];
    at.receiving = false;
    if (result > 0 && !at.ending) {
        events_.received(connection, std::span{at.in}.first(static_cast<std::size_t>(result)));
    } else if (result <= 0 && !at.ending) {
        set_reset(at.descriptor.get(), result != 0);  // 0: the client ended it, and may still read
        abort(connection);
    }
    if (!at.ending && events_.takes_more(connection)) {
        arm_receive(connection);
    }
    close_if_idle(connection);
}

void SocketServer::on_send(std::uint32_t connection, int result) {
    Connection& at = *connections_[connection];
    at.sending = false;
    if (result > 0 && !at.ending) {
        events_.sent(connection, static_cast<std::size_t>(result));
    } else if (result <= 0) {
        abort(connection);
    }
    close_if_idle(connection);
}

}  // namespace pinstrike::actors::gateway
