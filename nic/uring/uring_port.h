// path: hot
//
// Receives multicast through the kernel without a system call per packet, by io_uring multishot
// receives into a ring of provided buffers.
//
// There is one socket for each group, bound to the group's address and port. So the socket
// identifies a datagram's destination without a control message, and the limit of memberships per
// socket (net.ipv4.igmp_max_memberships, 20) is never reached. The kernel handles IGMP.
//
// UDP sockets deliver payloads, but the poll path parses frames. So the port writes Ethernet, IPv4
// and UDP headers into the buffer in front of the payload. They overwrite the sender's address and
// the time stamp that io_uring put there, which the port has read before. The kernel has verified
// the checksums of the original headers.
//
//   buffer  | io_uring_recvmsg_out 16 | sockaddr_in 16 | control 32 | payload ... |
//                                 | headers 42 ........................|
//
// The control thread opens the port with a disabled ring. The first receive() enables the ring, so
// that the poll thread is its only submitter and the only thread that runs completions
// (DEFER_TASKRUN).
#pragma once

#include "config/problem.h"
#include "nic/port.h"
#include "nic/port_config.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace pinstrike::nic {

struct UringState;

class UringPort final : public Port {
  public:
    /// Opens the sockets and the ring and joins the groups on the config's interface; null, with
    /// every problem added, if the host or its kernel does not allow that. `buffers_count` is a
    /// power of two. The buffers need not hold a whole burst of the network, because the socket
    /// buffers do.
    [[nodiscard]] static std::unique_ptr<UringPort> open(
        const PortConfig& config, std::string name, const std::vector<Group>& groups,
        Problems& problems, unsigned buffers_count = default_buffers_count);

    static constexpr unsigned default_buffers_count = 4096;

    ~UringPort() override;

    std::size_t receive(std::span<Packet> burst, std::int64_t now_ns) override;

    /// Opens a socket for each group and joins the group; at most more_groups_max groups in total.
    [[nodiscard]] std::unique_ptr<MoreGroups> prepare(std::span<const Group> groups,
                                                      Problems& problems) override;
    void join(MoreGroups& groups, std::int64_t now_ns) override;

    /// Checks the link, and re-arms the sockets whose receive failed.
    void housekeep(std::int64_t now_ns) override;

    [[nodiscard]] InterfaceChange follow_interface() const override;

    /// `missed`: datagrams that the kernel dropped because a socket buffer was full. `errors`:
    /// datagrams longer than the buffers, and failed receives.
    [[nodiscard]] DeviceStatistics statistics() const override;

    [[nodiscard]] std::vector<std::string> remarks() const override;

  private:
    UringPort(std::string name, std::unique_ptr<UringState> state);

    void start();

    std::unique_ptr<UringState> state_;
};

}  // namespace pinstrike::nic
