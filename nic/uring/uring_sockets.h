// path: cold
//
// The kernel sockets and interfaces of the uring port.
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

/// A network interface of the kernel.
struct NetworkInterface {
    std::string name;
    unsigned index = 0;
    std::size_t mtu_bytes = 0;
};

/// Looks up the interface; nullopt, with a problem added, if there is none.
[[nodiscard]] std::optional<NetworkInterface> find_interface(const std::string& name,
                                                             Problems& problems);

/// True while the interface is up and has a carrier. Makes one ioctl on `fd`, which may be any
/// socket.
[[nodiscard]] bool link_is_up(int fd, const NetworkInterface& interface);

/// The index of the interface that has this name now; 0 if there is none.
[[nodiscard]] unsigned index_of(const std::string& interface);

/// Moves the group's membership from the deleted interface `gone_index` to the interface `index`.
/// False if the kernel refuses.
[[nodiscard]] bool join_again(int fd, Group group, unsigned gone_index, unsigned index);

/// Opens a socket that receives only `group`, only on `interface`, with time stamps. On failure
/// adds a problem and returns an invalid descriptor. Adds a remark if the buffer is smaller than
/// requested and `remarks` is empty.
[[nodiscard]] FileDescriptor open_group_socket(const NetworkInterface& interface, Group group,
                                               std::size_t buffer_bytes, Problems& problems,
                                               std::vector<std::string>& remarks);

/// Datagrams that the kernel dropped because the socket's buffer was full.
[[nodiscard]] std::uint64_t socket_drops(int fd);

/// A remark if the kernel's reverse path filter is strict, because it then drops multicast from
/// senders that are not routed over the interface. Otherwise empty.
[[nodiscard]] std::string reverse_path_remark(const NetworkInterface& interface);

}  // namespace pinstrike::nic
