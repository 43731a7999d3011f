// path: cold
#include "actors/host/service/datagram_socket.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

namespace pinstrike::actors {

nic::FileDescriptor connected_datagram_socket(std::string_view address) {
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    if (address.size() >= sizeof to.sun_path) {
        errno = ENAMETOOLONG;
        return nic::FileDescriptor{};
    }
    std::memcpy(to.sun_path, address.data(), address.size());
    if (address.starts_with('@')) {
        to.sun_path[0] = '\0';
    }
    nic::FileDescriptor socket{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address.size());
    if (socket.valid() &&
        ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to),  // tidy: the socket API
                  length) != 0) {
        const int error = errno;
        socket = nic::FileDescriptor{};
        errno = error;
    }
    return socket;
}

}  // namespace pinstrike::actors
