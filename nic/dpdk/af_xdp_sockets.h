// path: cold
//
// Reads the loss counters of AF_XDP sockets, and closes the sockets. DPDK's driver reports only
// frames that did not fit a buffer. The sockets report the losses from a full receive ring (the
// poller was too slow) and from an empty fill ring (no free buffer). The sockets are found among
// the process's file descriptors.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace pinstrike::nic::dpdk {

/// The file descriptors of this process that are AF_XDP sockets, in ascending order.
[[nodiscard]] std::vector<int> af_xdp_sockets();

/// Closes the sockets that are still open. DPDK 22.11 with libxdp 1.3 unmaps a socket's rings but
/// does not close the socket, so the interface's queue would stay in use until the process ends.
void close_af_xdp_sockets(const std::vector<int>& sockets);

struct AfXdpLosses {
    std::uint64_t missed = 0;     ///< receive ring full, or frame too long
    std::uint64_t no_buffer = 0;  ///< no buffer in the fill ring (copy mode)
};

/// The sums of the losses of all sockets, in frames; nullopt if a socket cannot be read.
[[nodiscard]] std::optional<AfXdpLosses> af_xdp_losses(const std::vector<int>& sockets);

}  // namespace pinstrike::nic::dpdk
