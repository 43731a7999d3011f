// path: cold
#include "actors/host/doctor/need.h"

#include "actors/topology/recording_rate.h"
#include "actors/topology/topology.h"
#include "nic/port_kind.h"

#include <algorithm>

namespace pinstrike::actors::doctor {
namespace {

void add_threads(const FeedConfig& config, const Topology& topology, const std::string& prefix,
                 Need& need) {
    for (const PollerPlan& poller : topology.pollers) {
        HotThread thread{prefix + poller.name, poller.cpu, poller.wait == WaitStrategy::spin, {}};
        for (const std::size_t port : poller.ports) {
            std::string nic = nic::property_of(config.ports[port], &nic::PortKindRow::pci_address);
            if (!nic.empty()) {
                thread.nics.push_back(std::move(nic));
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

/// Each poller has a segment that it writes, and the next one begins before the first is removed.
RecordingNeed recording_of(const FeedConfig& config, std::optional<double> messages_per_second) {
    RecordingNeed need{
        config.name,
        config.record.folder_of(config.name),
        2 * config.record.segment_bytes * config.pollers.size() + config.record.free_bytes,
        {}};
    const auto rate = messages_per_second ? messages_per_second : generated_rate(config);
    if (rate) {
        need.bytes_per_second = recorded_bytes_per_second(config, *rate);
    }
    return need;
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
    const auto found = std::ranges::find(threads, cpu, &HotThread::cpu);
    return found == threads.end() ? std::string{} : found->name;
}

Need need_of(const std::vector<FeedConfig>& configs, std::optional<double> messages_per_second) {
    Need need;
    need.configs = configs.size();
    for (const FeedConfig& config : configs) {
        const std::string prefix = configs.size() > 1 ? config.name + "/" : "";
        const Topology topology = plan_topology(config);
        add_threads(config, topology, prefix, need);
        for (const nic::PortConfig& port : config.ports) {
            need.ports.push_back({prefix + port.name, port,
                                  nic::property_of(port, &nic::PortKindRow::interface),
                                  nic::property_of(port, &nic::PortKindRow::pci_address)});
        }
        if (!config.metrics_address.empty()) {
            need.endpoints.emplace(config.metrics_address, config.name);
        }
        if (topology.record_bytes != 0) {
            need.recordings.push_back(recording_of(config, messages_per_second));
        }
        need.memory_bytes += topology.memory_bytes();
        need.open_files = std::max(need.open_files, topology.open_files);
        (topology.published_on_hugepages ? need.published_huge_bytes : need.published_shm_bytes) +=
            topology.published_bytes;
        auto demands = dpdk_demands(config, topology);
        if (nic::dpdk::uses_hugepages(demands)) {
            ++need.dpdk_programs;
            std::move(demands.begin(), demands.end(), std::back_inserter(need.dpdk));
        }
    }
    return need;
}

}  // namespace pinstrike::actors::doctor
