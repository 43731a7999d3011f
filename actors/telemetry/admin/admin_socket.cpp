// path: cold
#include "actors/telemetry/admin/admin_socket.h"

#include "actors/telemetry/admin/address.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace pinstrike::actors::admin {
namespace {

/// The time in which no connection is accepted after accept() failed.
constexpr std::int64_t pause_ns = 1'000'000'000;

/// The most bytes that `more` may add before the client reads.
constexpr std::size_t pending_bytes_max = 1 << 20;

bool would_wait() {
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

/// Removes an unused socket file. True if no file is left at the path.
bool make_way(const std::string& path, const sockaddr_un& address, Problems& problems) {
    struct stat found {};

    if (::lstat(path.c_str(), &found) != 0) {
        return true;  // bind reports other errors
    }
    if (!S_ISSOCK(found.st_mode)) {
        add_problem(problems, path,
                    "found a file, expected a free path for the admin socket: not replaced");
        return false;
    }
    const nic::FileDescriptor probe{
        ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    if (::connect(probe.get(), as_any(address), sizeof address) == 0 || would_wait()) {
        add_problem(problems, path, "another instance answers at this admin socket", Remedy::retry);
        return false;
    }
    ::unlink(path.c_str());
    return true;
}

/// True if the other side has closed both directions.
bool has_gone(int socket) {
    pollfd looked_at{socket, 0, 0};
    return ::poll(&looked_at, 1, 0) == 1 && (looked_at.revents & (POLLHUP | POLLERR)) != 0;
}

Asker asker_of(int socket) {
    ucred who{};
    socklen_t length = sizeof who;
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &length) != 0) {
        return {};
    }
    return {who.uid, who.pid};
}

}  // namespace

AdminSocket::AdminSocket(std::string path, nic::FileDescriptor socket)
    : path_(std::move(path)), socket_(std::move(socket)) {}

AdminSocket::~AdminSocket() {
    ::unlink(path_.c_str());
}

std::unique_ptr<AdminSocket> AdminSocket::open(const std::string& path, Problems& problems) {
    const auto address = socket_address(path);
    if (!address) {
        add_problem(problems, path, "expected a path of 1 to 107 bytes for the admin socket");
        return nullptr;
    }
    if (!make_way(path, *address, problems)) {
        return nullptr;
    }
    nic::FileDescriptor socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    // listen comes last, so that no client can connect between bind and chmod.
    if (socket.get() < 0 || ::bind(socket.get(), as_any(*address), sizeof *address) != 0) {
        const int error = errno;
        add_problem(problems, path, fmt::format("no admin socket: {}", std::strerror(error)),
                    remedy_of(error));
        return nullptr;
    }
    std::unique_ptr<AdminSocket> made{new AdminSocket{path, std::move(socket)}};
    if (::chmod(path.c_str(), S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP) != 0 ||
        ::listen(made->socket_.get(), static_cast<int>(connections_max)) != 0) {
        const int error = errno;
        add_problem(problems, path, fmt::format("no admin socket: {}", std::strerror(error)),
                    remedy_of(error));
        return nullptr;
    }
    return made;
}

int AdminSocket::step(std::int64_t now_ns, const Answer& answer) {
    // Existing connections first, so that one whose request has arrived is not closed for a new
    // one.
    step_connections(now_ns, answer);
    const int error = now_ns < resume_ns_ ? 0 : accept_connections(now_ns);
    resume_ns_ = error == 0 ? resume_ns_ : now_ns + pause_ns;
    step_connections(now_ns, answer);
    return error;
}

void AdminSocket::step_connections(std::int64_t now_ns, const Answer& answer) {
    std::erase_if(connections_, [&](const std::unique_ptr<Connection>& connection) {
        return !step(*connection, now_ns, answer);
    });
}

/// New connections that no connection can be closed for wait in the kernel's queue. Returns the
/// errno of a failed accept(), or 0.
int AdminSocket::accept_connections(std::int64_t now_ns) {
    while (true) {
        const bool full = connections_.size() >= connections_max;
        const auto late = full ? most_overdue(now_ns) : connections_.end();
        if (full && late == connections_.end()) {
            return 0;
        }
        nic::FileDescriptor socket{
            ::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
        if (socket.get() < 0) {
            return would_wait() || errno == ECONNABORTED ? 0 : errno;
        }
        if (full) {
            connections_.erase(late);
        }
        auto connection = std::make_unique<Connection>();
        connection->asker = asker_of(socket.get());
        connection->socket = std::move(socket);
        connection->due_ns = now_ns + patience_ns;
        connections_.push_back(std::move(connection));
    }
}

/// Chooses among the connections that have been waited for before now. One that has not sent its
/// request comes before one that does not read, then the one with the earliest deadline.
AdminSocket::Connections::iterator AdminSocket::most_overdue(std::int64_t now_ns) {
    auto late = connections_.end();
    for (auto each = connections_.begin(); each != connections_.end(); ++each) {
        const Connection& one = **each;
        const bool waited_for =
            (!one.answered || one.unsent_bytes != 0) && one.due_ns < now_ns + patience_ns;
        if (waited_for &&
            (late == connections_.end() ||
             std::pair{one.answered, one.due_ns} < std::pair{(*late)->answered, (*late)->due_ns})) {
            late = each;
        }
    }
    return late;
}

bool AdminSocket::step(Connection& connection, std::int64_t now_ns, const Answer& answer) {
    if (!read(connection)) {
        return false;
    }
    const std::size_t end = connection.in.find('\n');
    if (!connection.answered && end != std::string::npos) {
        connection.answered = true;
        connection.reply = answer(connection.in.substr(0, end), connection.asker);
    }
    Reply& reply = connection.reply;
    if (reply.more && reply.text.size() < pending_bytes_max && !reply.more(reply.text)) {
        reply.more = nullptr;
    }
    if (!write(connection)) {
        return false;
    }
    if (connection.answered && connection.unsent_bytes == 0) {
        connection.unsent_bytes = reply.text.size();
        connection.due_ns = now_ns + patience_ns;
    }
    const bool done = connection.answered && reply.text.empty() && !reply.more;
    return !done && now_ns < connection.due_ns;
}

bool AdminSocket::read(Connection& connection) {
    std::array<char, request_bytes_max> piece;  // filled by recv
    const ssize_t count = ::recv(connection.socket.get(), piece.data(), piece.size(), MSG_DONTWAIT);
    if (count < 0) {
        return would_wait();
    }
    if (count == 0) {
        // A client that has closed its sending direction may still read the answer.
        return connection.answered && !has_gone(connection.socket.get());
    }
    if (!connection.answered) {
        connection.in.append(piece.data(), static_cast<std::size_t>(count));
    }
    return connection.in.size() <= request_bytes_max;
}

bool AdminSocket::write(Connection& connection) {
    std::string& text = connection.reply.text;
    std::size_t sent = 0;
    while (sent < text.size()) {
        const ssize_t count = ::send(connection.socket.get(), text.data() + sent,
                                     text.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count < 0) {
            if (!would_wait()) {
                return false;
            }
            break;
        }
        sent += static_cast<std::size_t>(count);
    }
    text.erase(0, sent);
    connection.unsent_bytes -= std::min(connection.unsent_bytes, sent);
    return true;
}

}  // namespace pinstrike::actors::admin
