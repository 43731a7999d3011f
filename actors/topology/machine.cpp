// path: cold
#include "actors/topology/machine.h"

#include "actors/threads/call_filter.h"
#include "actors/topology/cgroup_memory.h"

#include <hwloc.h>
#include <pthread.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string_view>

namespace pinstrike::actors {
namespace {

struct DestroyTopology {
    void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
};

using HwlocTopology = std::unique_ptr<hwloc_topology, DestroyTopology>;

/// This host, or the machine that the text describes. Null if hwloc cannot read it.
HwlocTopology load_topology(const std::string* described = nullptr) {
    hwloc_topology_t topology = nullptr;
    if (hwloc_topology_init(&topology) != 0) {
        return nullptr;
    }
    HwlocTopology owned{topology};
    hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    int error = 0;
    if (described != nullptr) {
        const bool file = std::ifstream{*described}.is_open();
        error = file ? hwloc_topology_set_xml(topology, described->c_str())
                     : hwloc_topology_set_synthetic(topology, described->c_str());
    }
    return error == 0 && hwloc_topology_load(topology) == 0 ? std::move(owned) : nullptr;
}

unsigned node_of(hwloc_obj_t object) {
    const int node = object->nodeset == nullptr ? -1 : hwloc_bitmap_first(object->nodeset);
    return node < 0 ? 0 : static_cast<unsigned>(node);
}

void read_cpus(hwloc_topology* topology, Machine& machine) {
    hwloc_obj_t cpu = nullptr;
    while ((cpu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, cpu)) != nullptr) {
        hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, cpu);
        hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_PACKAGE, cpu);
        machine.cpus.push_back({.index = static_cast<CpuIndex>(cpu->os_index),
                                .core = core == nullptr ? cpu->os_index : core->logical_index,
                                .numa_node = node_of(cpu),
                                .package = package == nullptr ? 0 : package->logical_index});
    }
    std::ranges::sort(machine.cpus, {}, &MachineCpu::index);
}

void read_pci(hwloc_topology* topology, Machine& machine) {
    hwloc_obj_t device = nullptr;
    while ((device = hwloc_get_next_pcidev(topology, device)) != nullptr) {
        const auto& pci = device->attr->pcidev;
        std::array<char, 32> address{};
        std::snprintf(address.data(), address.size(), "%04x:%02x:%02x.%01x",
                      static_cast<unsigned>(pci.domain), pci.bus, pci.dev, pci.func);
        if (hwloc_obj_t host = hwloc_get_non_io_ancestor_obj(topology, device)) {
            machine.pci_nodes.emplace(address.data(), node_of(host));
        }
    }
}

/// A row of /proc/meminfo in bytes; 0: there is none. MemAvailable is memory that is free or in
/// caches that can be dropped, without reserved hugepages. (hwloc sums the memory of the nodes,
/// which lacks memory that was added to a virtual machine later and belongs to no node.)
std::size_t read_memory_bytes(std::string_view name) {
    std::ifstream in("/proc/meminfo");
    for (std::string line; std::getline(in, line);) {
        std::size_t kib = 0;
        if (line.starts_with(name) && std::sscanf(line.c_str() + name.size(), "%zu", &kib) == 1) {
            return kib * 1024;
        }
    }
    return 0;
}

void apply_limit(const std::optional<CgroupMemory>& group, Machine& machine) {
    if (group && group->limit_bytes < machine.memory_bytes) {
        machine.memory_bytes = group->limit_bytes;
        machine.free_bytes = std::min(machine.free_bytes, group->free_bytes);
        machine.memory_owner = "the control group " + group->group;
    }
}

}  // namespace

const MachineCpu* Machine::find(CpuIndex index) const {
    const auto found = std::ranges::find(cpus, index, &MachineCpu::index);
    return found == cpus.end() ? nullptr : &*found;
}

std::optional<unsigned> Machine::node_of_pci(const std::string& address) const {
    const auto found = pci_nodes.find(address);
    return found == pci_nodes.end() ? std::nullopt : std::optional{found->second};
}

Machine read_machine() {
    Machine machine;
    machine.no_call_filters = CallFilter::obstacle();
    if (rlimit limit{};
        ::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
        machine.open_files_max = limit.rlim_cur;
    }
    if (const HwlocTopology topology = load_topology()) {
        read_cpus(topology.get(), machine);
        read_pci(topology.get(), machine);
        machine.memory_bytes = read_memory_bytes("MemTotal:");
        machine.free_bytes = read_memory_bytes("MemAvailable:");
        apply_limit(read_cgroup_memory(), machine);
    }
    return machine;
}

std::optional<Machine> described_machine(const std::string& text) {
    const HwlocTopology topology = load_topology(&text);
    if (!topology) {
        return std::nullopt;
    }
    Machine machine;
    read_cpus(topology.get(), machine);
    read_pci(topology.get(), machine);
    return machine;
}

bool bind_this_thread(CpuIndex cpu) {
    if (cpu < 0) {
        return true;
    }
    CpuMask mask{};
    CPU_SET_S(static_cast<std::size_t>(cpu), sizeof mask, mask.data());
    return ::sched_setaffinity(0, sizeof mask, mask.data()) == 0;
}

BoundToCpu::BoundToCpu(CpuIndex cpu) {
    CpuMask before{};
    if (cpu >= 0 && ::sched_getaffinity(0, sizeof before, before.data()) == 0) {
        before_ = before;
        bind_this_thread(cpu);
    }
}

BoundToCpu::~BoundToCpu() {
    if (before_) {
        ::sched_setaffinity(0, sizeof *before_, before_->data());
    }
}

bool place_this_thread(CpuIndex cpu, const std::string& name) {
    constexpr std::size_t name_max = 15;
    ::pthread_setname_np(::pthread_self(), name.substr(0, name_max).c_str());
    return bind_this_thread(cpu);
}

}  // namespace pinstrike::actors
