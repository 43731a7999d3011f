// path: cold
#include "nic/port_needs.h"

#include "nic/dpdk/host.h"
#include "nic/dpdk/vdev.h"

#include <fcntl.h>
#include <linux/sockios.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>

namespace pinstrike::nic {

namespace {

constexpr std::uint64_t whole_word = ~std::uint64_t{0};

/// Asks whether a kernel interface is up.
constexpr SystemCall ask_link{"ioctl", 1, whole_word, SIOCGIFFLAGS};

/// A virtual device's driver, and the system calls that it makes in bursts and in housekeeping.
struct DriverCalls {
    std::string_view driver;
    std::vector<SystemCall> calls;
};

const std::vector<DriverCalls>& drivers() {
    static const std::vector<DriverCalls> table{
        // These drivers wake the kernel when its rings request it.
        {"net_af_xdp", {ask_link, {"poll"}, {"recvfrom"}, {"sendto"}}},
        {"net_af_packet", {ask_link, {"poll"}, {"sendto"}}},
        // libpcap reads files by stdio, and interfaces by packet sockets.
        {"net_pcap",
         {ask_link, {"close"}, {"lseek"}, {"poll"}, {"read"}, {"recvfrom"}, {"sendto"}}},
        {"net_tap", {{"ioctl"}, {"read"}, {"readv"}, {"write"}, {"writev"}}},
        {"net_memif", {{"read"}, {"write"}}},
        {"net_null", {}},
        {"net_ring", {}},
    };
    return table;
}

/// Most registers are mapped memory; the kernel gives access to the others (I/O ports, interrupts).
/// A driver that shares its device with the kernel asks the kernel for link and clock, and opens a
/// socket for each request.
std::vector<SystemCall> calls_of_pci() {
    return {{"close"},    {"ioctl"}, {"pread64"},
            {"pwrite64"}, {"read"},  {"socket", 0, whole_word, AF_INET},
            {"write"}};
}

std::vector<SystemCall> calls_of_dpdk(const PortConfig& port) {
    if (port.vdev.empty()) {
        return calls_of_pci();
    }
    const std::string driver = dpdk::parse_vdev(port.vdev).driver;
    const auto known = std::find_if(drivers().begin(), drivers().end(),
                                    [&](const DriverCalls& row) { return row.driver == driver; });
    return known == drivers().end() ? calls_of_pci() : known->calls;
}

constexpr Right net_admin(std::string_view purpose) {
    return {dpdk::Capabilities::net_admin, "CAP_NET_ADMIN", purpose};
}

}  // namespace

bool shares_device(std::string_view kernel_driver) {
    constexpr std::array<std::string_view, 3> drivers{"mlx5_core", "mlx4_core", "mana"};
    return std::find(drivers.begin(), drivers.end(), kernel_driver) != drivers.end();
}

std::vector<SystemCall> calls_of(const PortConfig& port) {
    switch (port.kind) {
        case PortKind::dpdk:
            return calls_of_dpdk(port);
        case PortKind::uring:
            return {ask_link, {"io_uring_enter"}};
        case PortKind::pcap:
            // The port opens a file, for reading only, when its first packet is due (pcap_port.h).
            return {
                {"close"}, {"fstat"}, {"lseek"}, {"newfstatat"}, {"openat", 2, O_ACCMODE, O_RDONLY},
                {"read"}};
        case PortKind::sim:
            break;
    }
    return {};
}

std::vector<Right> rights_kept_by(const PortConfig& port) {
    if (port.kind != PortKind::dpdk) {
        return {};
    }
    if (port.pci.empty()) {
        const std::string driver = dpdk::parse_vdev(port.vdev).driver;
        if (driver == "net_af_xdp") {
            return {net_admin("takes its program off the interface at the end")};
        }
        if (driver == "net_tap") {
            return {net_admin("sets its interface down at the end")};
        }
        return {};
    }
    if (shares_device(dpdk::pci_driver(port.pci).value_or(""))) {
        return {net_admin("takes its addresses out of the interface's list at the end"),
                {dpdk::Capabilities::net_raw, "CAP_NET_RAW",
                 "takes its rules out of the device at the end"}};
    }
    return {{dpdk::Capabilities::ipc_lock, "CAP_IPC_LOCK",
             "locks memory that DPDK may add for the device"}};
}

}  // namespace pinstrike::nic
