// path: cold
#include "actors/host/service/service_manager.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>

namespace pinstrike::actors {
namespace {

std::string_view variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string_view{} : value;
}

std::optional<std::int64_t> number_of(std::string_view text) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool whole = error == std::errc{} && end == text.data() + text.size();
    return whole && number > 0 ? std::optional{number} : std::nullopt;
}

/// Nothing if WATCHDOG_PID names another process.
std::optional<std::int64_t> watchdog_of_environment() {
    constexpr std::int64_t ns_per_us = 1000;
    const std::string_view process = variable("WATCHDOG_PID");
    const auto us = number_of(variable("WATCHDOG_USEC"));
    if (!us || *us > std::numeric_limits<std::int64_t>::max() / ns_per_us ||
        (!process.empty() && number_of(process) != ::getpid())) {
        return std::nullopt;
    }
    return *us * ns_per_us;
}

/// A socket connected to a path, or to an abstract name that begins with "@"; -1 and errno on an
/// error.
int connected_to(std::string_view address) {
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    if (address.size() >= sizeof to.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    std::memcpy(to.sun_path, address.data(), address.size());
    if (address.front() == '@') {
        to.sun_path[0] = '\0';
    }
    const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address.size());
    if (socket >= 0 &&
        ::connect(socket, reinterpret_cast<const sockaddr*>(&to),  // tidy: the socket API
                  length) != 0) {
        const int error = errno;
        ::close(socket);
        errno = error;
        return -1;
    }
    return socket;
}

}  // namespace

ServiceManager ServiceManager::of_environment() {
    ServiceManager manager;
    const std::string_view address = variable("NOTIFY_SOCKET");
    if (address.empty()) {
        return manager;
    }
    manager.socket_ = connected_to(address);
    if (manager.socket_ < 0) {
        manager.obstacle_ =
            fmt::format("the service manager at {} (NOTIFY_SOCKET) cannot be notified: {}", address,
                        std::strerror(errno));
        return manager;
    }
    manager.watchdog_ns_ = watchdog_of_environment();
    return manager;
}

ServiceManager::ServiceManager(ServiceManager&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)),
      obstacle_(std::move(other.obstacle_)),
      watchdog_ns_(other.watchdog_ns_) {}

ServiceManager::~ServiceManager() {
    if (socket_ >= 0) {
        ::close(socket_);
    }
}

void ServiceManager::keep_descriptor(int descriptor, const std::string& name) const {
    std::string text = "FDSTORE=1\nFDNAME=" + name;
    iovec part{.iov_base = text.data(), .iov_len = text.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof descriptor)> control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* const rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof descriptor);
    std::memcpy(CMSG_DATA(rights), &descriptor, sizeof descriptor);
    if (socket_ >= 0) {
        static_cast<void>(::sendmsg(socket_, &message, MSG_NOSIGNAL | MSG_DONTWAIT));
    }
}

int ServiceManager::kept_descriptor(std::string_view name) {
    constexpr int first = 3;  // SD_LISTEN_FDS_START
    const auto count = number_of(variable("LISTEN_FDS"));
    if (!count || number_of(variable("LISTEN_PID")) != ::getpid()) {
        return -1;
    }
    std::string_view names = variable("LISTEN_FDNAMES");
    for (int descriptor = first; descriptor < first + *count; ++descriptor) {
        const std::size_t end = std::min(names.find(':'), names.size());
        if (names.substr(0, end) == name) {
            ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
            return descriptor;
        }
        names.remove_prefix(std::min(end + 1, names.size()));
    }
    return -1;
}

void ServiceManager::notify(std::string_view assignments) const {
    if (socket_ >= 0) {
        static_cast<void>(
            ::send(socket_, assignments.data(), assignments.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
    }
}

}  // namespace pinstrike::actors
