// path: cold
//
// A network namespace of the test process with a pair of virtual Ethernet interfaces; it ends with
// the process. Enter it before starting threads.
#pragma once

#include <fcntl.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>

namespace pinstrike::nic {

/// The two interfaces of the pair in the namespace.
inline constexpr const char* wire_near = "pin0";
inline constexpr const char* wire_far = "pin1";

/// Makes the pair, and waits until its link is up.
inline bool make_wire() {
    const char* script =
        "ip link add pin0 type veth peer name pin1 && "
        "ip link set pin0 up && ip link set pin1 up && "
        "for name in all default pin0 pin1; do "
        "echo 0 > /proc/sys/net/ipv4/conf/$name/rp_filter || exit 1; done; "
        "for i in $(seq 6000); do ip -o link show pin0 | grep -q 'state UP' && exit 0; "
        "sleep 0.01; done; exit 1";
    return std::system(script) == 0;
}

/// Empty on success, else the reason why no namespace is possible here, for which the test is
/// skipped.
inline std::string enter_network_namespace() {
    if (unshare(CLONE_NEWNET) != 0) {
        return std::string("network namespaces are not permitted: ") + std::strerror(errno);
    }
    if (std::system("ip link set lo up") != 0 || !make_wire()) {
        return "`ip link add ... type veth` does not work here";
    }
    return "";
}

/// Sends frames unchanged at one end of the pair.
class RawWire {
  public:
    explicit RawWire(const char* interface) : fd_(socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0)) {
        address_.sll_family = AF_PACKET;
        address_.sll_ifindex = static_cast<int>(if_nametoindex(interface));
    }

    ~RawWire() { close(fd_); }

    RawWire(const RawWire&) = delete;
    RawWire& operator=(const RawWire&) = delete;

    bool send(std::span<const std::byte> frame) const {
        return sendto(fd_, frame.data(), frame.size(), 0,
                      reinterpret_cast<const sockaddr*>(&address_),
                      sizeof address_) == static_cast<ssize_t>(frame.size());
    }

  private:
    int fd_;
    sockaddr_ll address_{};
};

}  // namespace pinstrike::nic
