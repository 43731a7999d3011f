// path: cold
//
// Reads the host's hugepages, capabilities and PCI devices. The checks are separate
// (eal_arguments.h), so that tests can run them for any machine.
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

/// Reads <root>/devices/system/node/node*/hugepages; if the kernel has no NUMA nodes, all pages
/// count for node 0. The result is sorted by size, then node.
[[nodiscard]] std::vector<Hugepages> read_hugepages(const std::string& root = "/sys");

/// The file that sets the number of hugepages of 2 MiB on a node, or on all nodes together (`node`
/// < 0). The sysctl vm.nr_hugepages counts pages of the kernel's default size, which may be 1 GiB:
/// default_hugepagesz on its command line.
[[nodiscard]] std::string hugepages_file(int node);

/// The Linux capabilities of a process, one bit each.
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

/// The capabilities of this process, from /proc/self/status.
[[nodiscard]] Capabilities read_capabilities();

/// RLIMIT_MEMLOCK; nullopt: unlimited.
[[nodiscard]] std::optional<std::size_t> memory_lock_limit_bytes();

/// The kernel driver bound to a PCI device; nullopt if there is no such device, "" if unbound.
[[nodiscard]] std::optional<std::string> pci_driver(const std::string& address,
                                                    const std::string& root = "/sys");

/// The NUMA node of a PCI device; negative if it has none or does not exist.
[[nodiscard]] int pci_node(const std::string& address, const std::string& root = "/sys");

}  // namespace pinstrike::nic::dpdk
