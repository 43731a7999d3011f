// path: cold
#include "actors/host/doctor/need.h"

#include "actors/topology/topology.h"
#include "nic/dpdk/vdev.h"

#include <algorithm>

namespace pinstrike::actors::doctor {
namespace {

std::string kernel_interface_of(const nic::PortConfig& port) {
    return port.kind == nic::PortKind::dpdk ? nic::dpdk::kernel_interface(port) : port.interface;
}

void add_threads(const FeedConfig& config, const Topology& topology, const std::string& prefix,
                 Need& need) {
    for (const PollerPlan& poller : topology.pollers) {
        HotThread thread{prefix + poller.name, poller.cpu, poller.wait == WaitStrategy::spin, {}};
        for (const std::size_t port : poller.ports) {
            if (!config.ports[port].pci.empty()) {
                thread.nics.push_back(nic::dpdk::device_name(config.ports[port]));
            }
        }
        need.threads.push_back(std::move(thread));
    }
    for (const CorePlan& core : topology.cores) {
        need.threads.push_back({prefix + core.name, core.cpu, core.wait == WaitStrategy::spin, {}});
    }
    if (config.control_cpu >= 0) {
        need.control.emplace(config.control_cpu, prefix + "control");
    }
}

void add_ports(const FeedConfig& config, const Topology& topology, const std::string& prefix,
               Need& need) {
    for (std::size_t i = 0; i < config.ports.size(); ++i) {
        const nic::PortConfig& port = config.ports[i];
        PortNeed wanted{prefix + port.name, port, kernel_interface_of(port), 0};
        if (port.kind == nic::PortKind::uring) {
            for (const std::size_t poller : topology.port_readers[i]) {
                wanted.sockets += groups_at(config, topology.pollers[poller], port).size();
            }
        }
        need.ports.push_back(std::move(wanted));
    }
}

}  // namespace

CpuSet Need::hot_cpus() const {
    CpuSet cpus;
    for (const HotThread& thread : threads) {
        if (thread.cpu >= 0) {
            cpus.insert(thread.cpu);
        }
    }
    return cpus;
}

std::string Need::who_on(CpuIndex cpu) const {
    const auto found = std::find_if(threads.begin(), threads.end(),
                                    [=](const HotThread& thread) { return thread.cpu == cpu; });
    return found == threads.end() ? std::string{} : found->name;
}

Need need_of(const std::vector<FeedConfig>& configs) {
    Need need;
    need.configs = configs.size();
    for (const FeedConfig& config : configs) {
        const std::string prefix = configs.size() > 1 ? config.name + "/" : "";
        const Topology topology = plan_topology(config);
        add_threads(config, topology, prefix, need);
        add_ports(config, topology, prefix, need);
        if (!config.metrics_address.empty()) {
            need.endpoints.emplace(config.metrics_address, config.name);
        }
        need.memory_bytes += topology.memory_bytes();
        need.open_files += topology.open_files;
        auto demands = dpdk_demands(config, topology);
        if (!demands.empty() && demands.front().config.hugepages) {
            ++need.dpdk_programs;
            std::move(demands.begin(), demands.end(), std::back_inserter(need.dpdk));
        }
    }
    return need;
}

}  // namespace pinstrike::actors::doctor
