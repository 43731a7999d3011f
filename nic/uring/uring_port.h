// path: hot
//
// Kernel multicast without a system call per packet: io_uring multishot receives into a ring of
// provided buffers.
//
// One socket for each group, bound to the group's address and port, so the socket a datagram came
// by names its destination and no control message has to; a socket joins one group, so the limit
// of memberships per socket (net.ipv4.igmp_max_memberships, 20) is never met. The kernel speaks
// IGMP itself.
//
// UDP sockets give payloads, the poll path walks frames: the port writes an Ethernet, IPv4 and UDP
// header into the buffer in front of the payload, over what io_uring put there (the sender's
// address and the time stamp, once read). The kernel verified the checksums of the real headers.
//
//   buffer  | io_uring_recvmsg_out 16 | sockaddr_in 16 | control 32 | payload ... |
//                                 | headers 42 ........................|
//
// Threads: opened on the control thread, with the ring disabled; the first receive() enables it, so
// that the poll thread is its only submitter and completions run on it alone (DEFER_TASKRUN).
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
    /// Opens the sockets and the ring, joins the groups on config.interface; null with every
    /// problem told where the host or its kernel does not do it. `buffers_count`, a power of two,
    /// need not hold a burst of the network: the sockets' own buffers do.
    [[nodiscard]] static std::unique_ptr<UringPort> open(
        const PortConfig& config, std::string name, const std::vector<Group>& groups,
        Problems& problems, unsigned buffers_count = default_buffers_count);

    static constexpr unsigned default_buffers_count = 4096;

    ~UringPort() override;

    std::size_t receive(std::span<Packet> burst, std::int64_t now_ns) override;

    /// A socket for each group, joined; more_groups_max in all.
    [[nodiscard]] std::unique_ptr<MoreGroups> prepare(std::span<const Group> groups,
                                                      Problems& problems) override;
    void join(MoreGroups& groups, std::int64_t now_ns) override;

    /// Looks at the link, and arms again the sockets whose receive failed.
    void housekeep(std::int64_t now_ns) override;

    [[nodiscard]] InterfaceChange follow_interface() const override;

    /// `missed`: datagrams the kernel dropped for want of socket buffer. `errors`: datagrams longer
    /// than the buffers, and failed receives.
    [[nodiscard]] DeviceStatistics statistics() const override;

    [[nodiscard]] std::vector<std::string> remarks() const override;

  private:
    UringPort(std::string name, std::unique_ptr<UringState> state);

    void start();

    std::unique_ptr<UringState> state_;
};

}  // namespace pinstrike::nic
