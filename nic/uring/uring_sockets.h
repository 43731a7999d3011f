// path: cold
//
// What the uring port asks of the kernel's sockets and interfaces.
#pragma once

#include "config/problem.h"
#include "nic/file_descriptor.h"
#include "nic/packet/address.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pinstrike::nic {

/// A network interface as the kernel names it.
struct KernelInterface {
    std::string name;
    unsigned index = 0;
    std::size_t mtu_bytes = 0;
};

/// Looks the interface up, or tells the problem.
[[nodiscard]] std::optional<KernelInterface> find_interface(const std::string& name,
                                                            Problems& problems);

/// True while the interface is up and has a carrier, asked by an ioctl on any socket `fd`.
[[nodiscard]] bool link_is_up(int fd, const KernelInterface& interface);

/// The interface that has the name now; 0: none.
[[nodiscard]] unsigned index_of(const std::string& interface);

/// The group's membership goes over from an interface that is gone to the one that has its index
/// now. False where the kernel refuses.
[[nodiscard]] bool join_again(int fd, Group group, unsigned gone_index, unsigned index);

/// A socket that receives `group` on `interface` and nothing else, with time stamps. Tells problems
/// that stop it; adds to `remarks` what only lessens it (a smaller buffer than asked).
[[nodiscard]] FileDescriptor open_group_socket(const KernelInterface& interface, Group group,
                                               std::size_t buffer_bytes, Problems& problems,
                                               std::vector<std::string>& remarks);

/// Datagrams the kernel dropped at the socket because its buffer was full.
[[nodiscard]] std::uint64_t socket_drops(int fd);

/// A remark where the kernel's reverse path filter is strict: it then drops multicast
/// from senders that are not routed over the interface. Empty where it is not.
[[nodiscard]] std::string reverse_path_remark(const KernelInterface& interface);

}  // namespace pinstrike::nic
