// path: cold
//
// What the host is, apart from what is decided from it: read_machine() looks, topology.h decides,
// and tests make machines up.
#pragma once

#include "actors/topology/feed_config.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pinstrike::actors {

struct MachineCpu {
    CpuIndex index = 0;  ///< as the operating system numbers it
    unsigned core = 0;   ///< physical; two cpus of one core share its units
    unsigned numa_node = 0;
    unsigned package = 0;  ///< socket
};

struct Machine {
    std::vector<MachineCpu> cpus;  ///< those this process may run on, ascending
    std::size_t memory_bytes = 0;  ///< of the machine, or what a control group leaves of it
    std::size_t free_bytes = 0;    ///< of it, what the kernel could give now; 0: unknown
    std::string memory_owner = "the machine";  ///< or "the control group /a/b"

    std::optional<std::size_t> open_files_max;  ///< of this process; nullopt: no limit

    [[nodiscard]] const MachineCpu* find(CpuIndex index) const;

    std::string no_call_filters;  ///< why the kernel has none for system calls; empty: it has

    /// The NUMA node of a PCI device ("0000:3b:00.0"); nullopt: unknown. Filled in by read_machine.
    std::vector<std::pair<std::string, unsigned>> pci_nodes;

    [[nodiscard]] std::optional<unsigned> node_of_pci(const std::string& address) const;
};

/// Looks, with hwloc. A host that tells nothing yields no cpus.
[[nodiscard]] Machine read_machine();

/// A machine elsewhere: of a file of hwloc's XML (`lstopo FILE.xml`), or else synthetic, as hwloc
/// takes it ("pack:2 core:8 pu:2"). It has no memory and nothing that forbids filters. Nothing
/// where hwloc can make nothing of it.
[[nodiscard]] std::optional<Machine> described_machine(const std::string& text);

/// Puts the calling thread, and threads that it makes meanwhile, on one cpu, and itself back in the
/// end. A negative cpu changes nothing.
class BoundToCpu {
  public:
    explicit BoundToCpu(CpuIndex cpu);
    ~BoundToCpu();

    BoundToCpu(const BoundToCpu&) = delete;
    BoundToCpu& operator=(const BoundToCpu&) = delete;

  private:
    struct Before;

    std::unique_ptr<Before> before_;
};

/// Binds the calling thread to a cpu for good. A negative cpu binds nothing. False where the system
/// refuses.
bool bind_this_thread(CpuIndex cpu);

/// Binds the calling thread to a cpu and names it (`name` is cut to 15 characters). A negative cpu
/// only names it. False where the system refuses.
bool place_this_thread(CpuIndex cpu, const std::string& name);

}  // namespace pinstrike::actors
