// path: cold
//
// Describes the hardware of a host. read_machine() reads it, and topology.h decides from it. Tests
// make up machines.
#pragma once

#include "actors/publish/publish_folder.h"
#include "actors/topology/feed_config.h"

#include <sched.h>

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pinstrike::actors {

struct MachineCpu {
    CpuIndex index = 0;  ///< the operating system's number
    unsigned core = 0;   ///< physical core; the CPUs of one core share its execution units
    unsigned numa_node = 0;
    unsigned package = 0;  ///< socket
};

struct Machine {
    std::vector<MachineCpu> cpus;  ///< the CPUs this process may use, ascending
    std::size_t memory_bytes = 0;  ///< of the machine, or the part that a control group allows
    std::size_t free_bytes = 0;    ///< the part of it that the kernel could give now; 0: unknown
    std::string memory_owner = "the machine";  ///< or "the control group /a/b"

    std::optional<std::size_t> open_files_max;  ///< limit of this process; nullopt: none

    [[nodiscard]] const MachineCpu* find(CpuIndex index) const;

    /// For the memory that the config publishes; nullopt: it publishes none, or no limit is known.
    std::optional<PublishSpace> publish_space;

    std::string no_call_filters;  ///< why the kernel has no system call filters; empty: it has them

    /// The NUMA nodes of PCI devices ("0000:3b:00.0"). read_machine() fills the list.
    std::map<std::string, unsigned> pci_nodes;

    [[nodiscard]] std::optional<unsigned> node_of_pci(const std::string& address) const;
};

/// Reads the host with hwloc. If the host reveals nothing, the result has no CPUs.
[[nodiscard]] Machine read_machine();

/// Another machine: from a file of hwloc's XML (`lstopo FILE.xml`) or a synthetic description of
/// hwloc ("pack:2 core:8 pu:2"). It has no memory figures, and its kernel has system call filters.
/// nullopt if hwloc cannot read the text.
[[nodiscard]] std::optional<Machine> described_machine(const std::string& text);

/// As many processors as a config can name.
using CpuMask = std::array<cpu_set_t, 4>;

/// Moves the calling thread, and the threads that it creates in the meantime, to one CPU. The
/// destructor moves the calling thread back. A negative CPU changes nothing.
class BoundToCpu {
  public:
    explicit BoundToCpu(CpuIndex cpu);
    ~BoundToCpu();

    BoundToCpu(const BoundToCpu&) = delete;
    BoundToCpu& operator=(const BoundToCpu&) = delete;

  private:
    std::optional<CpuMask> before_;
};

/// Binds the calling thread to a CPU for good. A negative CPU binds nothing. False if the system
/// refuses.
bool bind_this_thread(CpuIndex cpu);

/// Binds the calling thread to a CPU and names it (`name` is cut to 15 characters). A negative CPU
/// only names it. False if the system refuses.
bool place_this_thread(CpuIndex cpu, const std::string& name);

}  // namespace pinstrike::actors
