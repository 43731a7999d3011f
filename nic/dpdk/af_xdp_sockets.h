// path: cold
//
// What AF_XDP sockets lose, and their end. DPDK's driver passes on only the frames that did not fit
// a buffer; a full receive ring (we were too slow) and an empty fill ring (no buffer) are asked of
// the sockets themselves, found among the process's file descriptors.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace pinstrike::nic::dpdk {

/// The file descriptors of this process that are AF_XDP sockets, in order.
[[nodiscard]] std::vector<int> af_xdp_sockets();

/// Closes those that are open still: DPDK 22.11 with libxdp 1.3 unmaps a socket's rings but forgets
/// the socket, and the interface's queue stays taken until the process ends.
void close_af_xdp_sockets(const std::vector<int>& sockets);

struct AfXdpLosses {
    std::uint64_t missed = 0;     ///< receive ring full, or frame too long
    std::uint64_t no_buffer = 0;  ///< no buffer in the fill ring (copy mode)
};

/// Summed over the sockets; nullopt if one cannot be asked.
[[nodiscard]] std::optional<AfXdpLosses> af_xdp_losses(const std::vector<int>& sockets);

}  // namespace pinstrike::nic::dpdk
