// path: cold
#include "nic/dpdk/af_xdp_statistics.h"

#include <linux/if_xdp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace pinstrike::nic::dpdk {

std::vector<int> af_xdp_sockets() {
    std::vector<int> found;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error)) {
        const int fd = std::atoi(entry.path().filename().c_str());
        int domain = 0;
        socklen_t bytes = sizeof domain;
        if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &bytes) == 0 && domain == AF_XDP) {
            found.push_back(fd);
        }
    }
    std::sort(found.begin(), found.end());
    return found;
}

std::optional<AfXdpLosses> af_xdp_losses(const std::vector<int>& sockets) {
    AfXdpLosses losses;
    for (const int fd : sockets) {
        xdp_statistics counted{};
        socklen_t bytes = sizeof counted;
        if (getsockopt(fd, SOL_XDP, XDP_STATISTICS, &counted, &bytes) != 0) {
            return std::nullopt;
        }
        losses.missed += counted.rx_dropped + counted.rx_ring_full;
        losses.no_buffer += counted.rx_fill_ring_empty_descs;
    }
    return losses;
}

}  // namespace pinstrike::nic::dpdk
