// path: cold
#include "nic/dpdk/af_xdp_sockets.h"

#include <linux/if_xdp.h>
#include <sys/socket.h>
#include <unistd.h>

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

void close_af_xdp_sockets(const std::vector<int>& sockets) {
    const std::vector<int> open = af_xdp_sockets();
    for (const int fd : sockets) {
        if (std::binary_search(open.begin(), open.end(), fd)) {
            close(fd);
        }
    }
}

std::optional<AfXdpLosses> af_xdp_losses(const std::vector<int>& sockets) {
    AfXdpLosses losses;
    for (const int fd : sockets) {
        xdp_statistics counted{};
        socklen_t bytes = sizeof counted;
        if (getsockopt(fd, SOL_XDP, XDP_STATISTICS, &counted, &bytes) != 0) {
            return std::nullopt;
        }
        // In copy mode a frame without a buffer counts as dropped and as an empty fill ring. In
        // zero-copy mode the driver counts an empty fill ring at each attempt, whether or not there
        // was a frame, and counts no frame as dropped.
        const std::uint64_t without_buffer =
            std::min<std::uint64_t>(counted.rx_fill_ring_empty_descs, counted.rx_dropped);
        losses.missed += counted.rx_dropped - without_buffer + counted.rx_ring_full;
        losses.no_buffer += without_buffer;
    }
    return losses;
}

}  // namespace pinstrike::nic::dpdk

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PINSTRIKE_ADDRESS_SANITIZER 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define PINSTRIKE_ADDRESS_SANITIZER 1
#endif

#ifdef PINSTRIKE_ADDRESS_SANITIZER
/// The driver leaks the structure of a socket that it does not close (close_af_xdp_sockets): 80
/// bytes each time a port is opened. Only the driver could free it.
extern "C" const char* __lsan_default_suppressions();

extern "C" const char* __lsan_default_suppressions() {
    return "leak:xsk_umem__create\n";
}
#endif
