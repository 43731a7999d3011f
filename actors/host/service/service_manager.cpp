// path: cold
#include "actors/host/service/service_manager.h"

#include "actors/host/service/datagram_socket.h"
#include "config/units.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace pinstrike::actors {
namespace {

std::string_view variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string_view{} : value;
}

std::optional<std::int64_t> number_of(std::string_view text) {
    const auto number = parse_integer(text);
    return number && *number > 0 ? number : std::nullopt;
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

}  // namespace

ServiceManager ServiceManager::of_environment() {
    ServiceManager manager;
    const std::string_view address = variable("NOTIFY_SOCKET");
    if (address.empty()) {
        return manager;
    }
    manager.socket_ = connected_datagram_socket(address);
    if (!manager.socket_.valid()) {
        manager.obstacle_ =
            fmt::format("the service manager at {} (NOTIFY_SOCKET) cannot be notified: {}", address,
                        std::strerror(errno));
        return manager;
    }
    manager.watchdog_ns_ = watchdog_of_environment();
    return manager;
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
    if (socket_.valid()) {
        static_cast<void>(::sendmsg(socket_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT));
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
    if (socket_.valid()) {
        static_cast<void>(::send(socket_.get(), assignments.data(), assignments.size(),
                                 MSG_NOSIGNAL | MSG_DONTWAIT));
    }
}

}  // namespace pinstrike::actors
