// path: cold
#include "actors/topology/plan/plan.h"

#include "config/units.h"
#include "nic/port_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace pinstrike::actors::plan {
namespace {

std::vector<Thread> threads_of(const Topology& topology) {
    std::vector<Thread> threads;
    for (const PollerPlan& poller : topology.pollers) {
        threads.push_back(
            {poller.name, Role::poller, poller.cpu, poller.wait == WaitStrategy::spin});
    }
    for (const CorePlan& core : topology.cores) {
        threads.push_back({core.name, Role::core, core.cpu, core.wait == WaitStrategy::spin});
    }
    threads.push_back({"control", Role::control, topology.control_cpu, false});
    if (topology.record_bytes != 0) {
        threads.push_back({"recorder", Role::control, topology.control_cpu, false});
    }
    return threads;
}

Port port_of(const FeedConfig& config, const Topology& topology, const Machine& machine,
             std::size_t index) {
    const nic::PortConfig& wanted = config.ports[index];
    Port port{
        wanted.name, nic::row_of(wanted.kind).source(wanted), wanted.streams, std::nullopt, {}};
    port.numa_node = machine.node_of_pci(nic::property_of(wanted, &nic::PortKindRow::pci_address));
    for (const std::size_t reader : topology.port_readers[index]) {
        const PollerPlan& poller = topology.pollers[reader];
        std::vector<std::uint16_t> numbers;
        for (const std::size_t line : poller.lines) {
            numbers.push_back(config.lines[line].number);
        }
        port.queues.push_back(
            {poller.name, port.queues.size(), numbers.size(), ranges_text(numbers)});
    }
    return port;
}

/// The sort key of a panel, so that nodes of one package are adjacent.
using PanelKey = std::pair<unsigned, unsigned>;  // package, NUMA node

void place_cpu(const MachineCpu& cpu, const std::vector<Thread>& threads, Panel& panel) {
    auto core = std::ranges::find(panel.cores, cpu.core, &Core::index);
    if (core == panel.cores.end()) {
        core = panel.cores.insert(core, {cpu.core, {}});
    }
    Cpu placed{cpu.index, threads};
    std::erase_if(placed.threads, [&](const Thread& thread) { return thread.cpu != cpu.index; });
    core->cpus.push_back(std::move(placed));
}

std::vector<Panel> panels_of(const Machine& machine, const std::vector<Thread>& threads,
                             const std::vector<Port>& ports) {
    std::map<PanelKey, Panel> by_place;
    for (const MachineCpu& cpu : machine.cpus) {
        Panel& panel = by_place[{cpu.package, cpu.numa_node}];
        panel.name = fmt::format("package {}, NUMA node {}", cpu.package, cpu.numa_node);
        place_cpu(cpu, threads, panel);
    }
    Panel nowhere;
    for (std::size_t i = 0; i < ports.size(); ++i) {
        const auto place = std::ranges::find_if(
            by_place, [&](const auto& each) { return each.first.second == ports[i].numa_node; });
        (place == by_place.end() ? nowhere : place->second).ports.push_back(i);
    }
    nowhere.threads = threads;
    std::erase_if(nowhere.threads,
                  [&](const Thread& thread) { return machine.find(thread.cpu) != nullptr; });
    std::vector<Panel> panels;
    if (!nowhere.ports.empty() || !nowhere.threads.empty()) {
        panels.push_back(std::move(nowhere));
    }
    for (auto& [place, panel] : by_place) {
        panels.push_back(std::move(panel));
    }
    return panels;
}

std::optional<unsigned> node_of(const Machine& machine, const std::vector<Thread>& threads,
                                const std::string& name) {
    for (const Thread& thread : threads) {
        const MachineCpu* cpu = thread.name == name ? machine.find(thread.cpu) : nullptr;
        if (cpu != nullptr) {
            return cpu->numa_node;
        }
    }
    return std::nullopt;
}

}  // namespace

Plan make_plan(const FeedConfig& config, const Machine& machine, const std::string& where) {
    const Topology topology = plan_topology(config);
    const std::vector<Thread> threads = threads_of(topology);
    Plan plan;
    plan.title = fmt::format("feed {} on {}", config.name, where);
    for (std::size_t i = 0; i < config.ports.size(); ++i) {
        plan.ports.push_back(port_of(config, topology, machine, i));
    }
    plan.panels = panels_of(machine, threads, plan.ports);
    for (const RingPlan& ring : topology.rings) {
        const auto from = node_of(machine, threads, ring.from);
        const auto to = node_of(machine, threads, ring.to);
        plan.rings.push_back({ring, from && to && *from != *to});
    }
    for (const auto& [node, pages] : hugepages_needed(config, topology)) {
        plan.hugepages += fmt::format("{}{} {}", plan.hugepages.empty() ? "" : ", ",
                                      node < 0 ? "any" : fmt::format("node{}", node), pages);
    }
    if (topology.published_bytes != 0) {
        plan.published = memory_text(topology.published_bytes) +
                         (topology.published_on_hugepages ? ", hugetlbfs" : ", shm");
    }
    if (topology.record_bytes != 0) {
        plan.recorder = fmt::format("{}, writes to {}", memory_text(topology.record_bytes),
                                    config.record.folder_of(config.name));
    }
    TopologyFindings findings = check_topology(topology, config, machine);
    plan.problems = std::move(findings.problems);
    for (std::string& remark : findings.remarks) {
        if (!remark.starts_with("ring ")) {  // the list of rings says the same
            plan.remarks.push_back(std::move(remark));
        }
    }
    return plan;
}

}  // namespace pinstrike::actors::plan
