// path: cold
#include "actors/peer/tcp.h"

#include <netinet/in.h>

#include <cerrno>
#include <utility>

namespace pinstrike::actors::peer {

namespace {

/// An address as the system calls read and write it.
struct Name {
    sockaddr_in name{};
    socklen_t bytes = sizeof name;

    explicit Name(const nic::Group& at = {}) {
        name.sin_family = AF_INET;
        name.sin_port = htons(at.port);
        name.sin_addr.s_addr = htonl(at.address.value);
    }

    sockaddr* generic() { return reinterpret_cast<sockaddr*>(&name); }  // tidy: sockets' API

    [[nodiscard]] nic::Group group() const {
        return {{ntohl(name.sin_addr.s_addr)}, ntohs(name.sin_port)};
    }
};

nic::FileDescriptor new_socket(int flags) {
    return nic::FileDescriptor{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | flags, 0)};
}

}  // namespace

nic::FileDescriptor listen_at(const nic::Group& at, int backlog, int flags) {
    nic::FileDescriptor socket = new_socket(flags);
    Name name{at};
    const int on = 1;
    const bool good = socket.valid() &&
                      ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
                      ::bind(socket.get(), name.generic(), name.bytes) == 0 &&
                      ::listen(socket.get(), backlog) == 0;
    return good ? std::move(socket) : nic::FileDescriptor{};
}

nic::FileDescriptor connect_to(const nic::Group& at) {
    nic::FileDescriptor socket = new_socket(SOCK_NONBLOCK);
    Name name{at};
    const bool good = socket.valid() && (::connect(socket.get(), name.generic(), name.bytes) == 0 ||
                                         errno == EINPROGRESS);
    return good ? std::move(socket) : nic::FileDescriptor{};
}

int error_of(int descriptor) {
    int error = 0;
    socklen_t bytes = sizeof error;
    return ::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &bytes) == 0 ? error : errno;
}

nic::FileDescriptor accept_from(int listener, nic::Group& from) {
    Name name;
    nic::FileDescriptor socket{
        ::accept4(listener, name.generic(), &name.bytes, SOCK_NONBLOCK | SOCK_CLOEXEC)};
    from = name.group();
    return socket;
}

nic::Group local_address(int descriptor) {
    Name name;
    const bool known = ::getsockname(descriptor, name.generic(), &name.bytes) == 0;
    return known ? name.group() : nic::Group{};
}

nic::Group remote_address(int descriptor) {
    Name name;
    const bool known = ::getpeername(descriptor, name.generic(), &name.bytes) == 0;
    return known ? name.group() : nic::Group{};
}

}  // namespace pinstrike::actors::peer
