// path: cold
#include "nic/dpdk/kernel_interface.h"

#include <linux/ethtool.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace pinstrike::nic::dpdk {

KernelInterface::KernelInterface(std::string name)
    : name_(std::move(name)),
      socket_(socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0)),
      index_(if_nametoindex(name_.c_str())) {}

bool KernelInterface::admit(std::span<const Mac> addresses) {
    return std::all_of(addresses.begin(), addresses.end(), [this](const Mac& address) {
        packet_mreq request{};
        request.mr_ifindex = static_cast<int>(index_);
        request.mr_type = PACKET_MR_MULTICAST;
        request.mr_alen = static_cast<unsigned short>(address.octets.size());
        std::memcpy(request.mr_address, address.octets.data(), address.octets.size());
        return setsockopt(socket_.get(), SOL_PACKET, PACKET_ADD_MEMBERSHIP, &request,
                          sizeof request) == 0;
    });
}

bool KernelInterface::is_up() const {
    ifreq request{};
    name_.copy(request.ifr_name, IFNAMSIZ - 1);
    const bool there = ioctl(socket_.get(), SIOCGIFFLAGS, &request) == 0;
    const unsigned flags = static_cast<unsigned short>(request.ifr_flags);
    return there && (flags & IFF_UP) != 0 && (flags & IFF_RUNNING) != 0;
}

bool KernelInterface::link_up() const {
    return !replaced_.load(std::memory_order_relaxed) && is_up();
}

bool KernelInterface::replaced() const {
    const unsigned index = if_nametoindex(name_.c_str());
    replaced_.store(index != 0 && index != index_, std::memory_order_relaxed);
    return replaced_.load(std::memory_order_relaxed) && is_up();
}

unsigned receive_queues_of(const std::string& interface) {
    const FileDescriptor any{socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    ethtool_channels channels{};
    channels.cmd = ETHTOOL_GCHANNELS;
    ifreq request{};
    interface.copy(request.ifr_name, IFNAMSIZ - 1);
    request.ifr_data = reinterpret_cast<char*>(&channels);
    const int result = ioctl(any.get(), SIOCETHTOOL, &request);
    return result == 0 ? channels.combined_count + channels.rx_count : 0;
}

}  // namespace pinstrike::nic::dpdk
