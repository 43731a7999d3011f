// path: cold
//
// What the machine offers DPDK: hugepages, rights. Reading is separate from deciding, so decisions
// are tested on machines made by hand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pinstrike::nic::dpdk {

/// Hugepages of one size on one NUMA node.
struct Hugepages {
    std::size_t page_bytes = 0;
    unsigned node = 0;
    std::size_t total_count = 0;
    std::size_t free_count = 0;
};

/// Reads <root>/devices/system/node/node*/hugepages; where the kernel knows no nodes, all pages
/// count as node 0's. Sorted by size, then node.
[[nodiscard]] std::vector<Hugepages> read_hugepages(const std::string& root = "/sys");

/// Linux capabilities as bits.
struct Capabilities {
    std::uint64_t effective = 0;

    static constexpr unsigned net_admin = 12;
    static constexpr unsigned net_raw = 13;
    static constexpr unsigned ipc_lock = 14;
    static constexpr unsigned sys_admin = 21;

    [[nodiscard]] bool has(unsigned capability) const {
        return ((effective >> capability) & 1U) != 0;
    }
};

/// Of this process, from /proc/self/status.
[[nodiscard]] Capabilities read_capabilities();

/// RLIMIT_MEMLOCK; nullopt is unlimited.
[[nodiscard]] std::optional<std::size_t> memory_lock_limit_bytes();

/// The kernel driver that holds a PCI device; nullopt if there is no such device, "" if unbound.
[[nodiscard]] std::optional<std::string> pci_driver(const std::string& address,
                                                    const std::string& root = "/sys");

/// The NUMA node of a PCI device; negative if it has none or is not there.
[[nodiscard]] int pci_node(const std::string& address, const std::string& root = "/sys");

}  // namespace pinstrike::nic::dpdk
