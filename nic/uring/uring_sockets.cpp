// path: cold
#include "nic/uring/uring_sockets.h"

#include "nic/packet/address.h"

#include <fmt/format.h>
#include <linux/sock_diag.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace pinstrike::nic {

namespace {

ifreq request_of(const std::string& name) {
    ifreq request{};
    name.copy(request.ifr_name, IFNAMSIZ - 1);
    return request;
}

/// Advice for the errors that occur in practice.
std::string socket_advice(int error) {
    switch (error) {
        case EMFILE:
            return "; one socket for each group is needed: raise `ulimit -n`";
        case ENOBUFS:
            return "; raise `sysctl net.ipv4.igmp_max_memberships`";
        case EADDRINUSE:
            return "; another program holds the port without SO_REUSEADDR";
        case EACCES:
        case EPERM:
            return "; the right to bind this port is missing";
        default:
            return "";
    }
}

template <class Value>
bool set_option(int fd, int level, int option, const Value& value) {
    return setsockopt(fd, level, option, &value, sizeof value) == 0;
}

bool bind_to(int fd, Group group) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(group.port);
    address.sin_addr.s_addr = htonl(group.address.value);
    sockaddr generic{};
    static_assert(sizeof generic == sizeof address);
    std::memcpy(&generic, &address, sizeof generic);
    return bind(fd, &generic, sizeof generic) == 0;
}

/// IP_ADD_MEMBERSHIP or IP_DROP_MEMBERSHIP
bool set_membership(int fd, int option, Group group, unsigned interface_index) {
    ip_mreqn request{};
    request.imr_multiaddr.s_addr = htonl(group.address.value);
    request.imr_ifindex = static_cast<int>(interface_index);
    return set_option(fd, IPPROTO_IP, option, request);
}

/// Requests a receive buffer; returns the size granted (the kernel reports twice the usable size).
std::size_t set_receive_buffer(int fd, std::size_t buffer_bytes) {
    const int asked = static_cast<int>(std::min<std::size_t>(buffer_bytes, 1U << 30));
    if (!set_option(fd, SOL_SOCKET, SO_RCVBUFFORCE, asked)) {
        set_option(fd, SOL_SOCKET, SO_RCVBUF, asked);
    }
    int granted = 0;
    socklen_t length = sizeof granted;
    getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &granted, &length);
    return static_cast<std::size_t>(granted) / 2;
}

int read_reverse_path_filter(const std::string& which) {
    std::ifstream file("/proc/sys/net/ipv4/conf/" + which + "/rp_filter");
    int value = 0;
    file >> value;
    return value;
}

}  // namespace

std::optional<NetworkInterface> find_interface(const std::string& name, Problems& problems) {
    NetworkInterface interface;
    interface.name = name;
    interface.index = if_nametoindex(name.c_str());
    const FileDescriptor any_socket(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    ifreq request = request_of(name);
    if (interface.index == 0 || ioctl(any_socket.get(), SIOCGIFMTU, &request) != 0) {
        const int error = errno;
        add_problem(problems, "",
                    fmt::format("interface {}: {} (`ip link` lists the interfaces)", name,
                                std::strerror(error)),
                    remedy_of(error));
        return std::nullopt;
    }
    interface.mtu_bytes = static_cast<std::size_t>(request.ifr_mtu);
    return interface;
}

bool link_is_up(int fd, const NetworkInterface& interface) {
    ifreq request = request_of(interface.name);
    constexpr int wanted = IFF_UP | IFF_RUNNING;
    return ioctl(fd, SIOCGIFFLAGS, &request) == 0 && (request.ifr_flags & wanted) == wanted;
}

unsigned index_of(const std::string& interface) {
    return if_nametoindex(interface.c_str());
}

bool join_again(int fd, Group group, unsigned gone_index, unsigned index) {
    // The socket keeps the membership on the deleted interface, which counts towards the limit of
    // memberships per socket (igmp_max_memberships).
    set_membership(fd, IP_DROP_MEMBERSHIP, group, gone_index);
    return set_membership(fd, IP_ADD_MEMBERSHIP, group, index) || errno == EADDRINUSE;
}

FileDescriptor open_group_socket(const NetworkInterface& interface, Group group,
                                 std::size_t buffer_bytes, Problems& problems,
                                 std::vector<std::string>& remarks) {
    FileDescriptor socket_fd(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    const int fd = socket_fd.get();
    constexpr int on = 1;
    constexpr int only_own_memberships = 0;
    const char* failed =
        !socket_fd.valid()                                                    ? "socket"
        : !set_option(fd, SOL_SOCKET, SO_REUSEADDR, on)                       ? "SO_REUSEADDR"
        : !set_option(fd, SOL_SOCKET, SO_TIMESTAMPNS, on)                     ? "SO_TIMESTAMPNS"
        : !set_option(fd, IPPROTO_IP, IP_MULTICAST_ALL, only_own_memberships) ? "IP_MULTICAST_ALL"
        : !bind_to(fd, group)                                                 ? "bind"
        : !set_membership(fd, IP_ADD_MEMBERSHIP, group, interface.index)      ? "IP_ADD_MEMBERSHIP"
                                                                              : nullptr;
    if (failed != nullptr) {
        const int error = errno;
        add_problem(
            problems, "",
            fmt::format("group {} on {}: {} failed: {}{}", text_of(group), interface.name, failed,
                        std::strerror(error), socket_advice(error)),
            error == ENOBUFS ? Remedy::change : remedy_of(error));  // ENOBUFS: a sysctl limit
        return FileDescriptor();
    }
    const std::size_t granted = set_receive_buffer(fd, buffer_bytes);
    if (granted < buffer_bytes && remarks.empty()) {
        remarks.push_back(
            fmt::format("socket buffers on {} hold {} bytes, {} requested: give CAP_NET_ADMIN or "
                        "`sysctl -w net.core.rmem_max={}`",
                        interface.name, granted, buffer_bytes, buffer_bytes));
    }
    return socket_fd;
}

std::uint64_t socket_drops(int fd) {
    std::array<std::uint32_t, SK_MEMINFO_VARS> figures{};
    socklen_t length = sizeof figures;
    if (getsockopt(fd, SOL_SOCKET, SO_MEMINFO, figures.data(), &length) != 0) {
        return 0;
    }
    return figures[SK_MEMINFO_DROPS];
}

std::string reverse_path_remark(const NetworkInterface& interface) {
    constexpr int strict = 1;
    const int effective =
        std::max(read_reverse_path_filter("all"), read_reverse_path_filter(interface.name));
    if (effective != strict) {
        return "";
    }
    return fmt::format(
        "the reverse path filter of {} is strict: multicast from senders that are not routed over "
        "it is dropped: `sysctl -w net.ipv4.conf.all.rp_filter=0 "
        "net.ipv4.conf.{}.rp_filter=0`",
        interface.name, interface.name);
}

}  // namespace pinstrike::nic
