// path: cold
#include "actors/host/host_report.h"

#include "actors/host/confine/call_lists.h"
#include "actors/host/confine/rights.h"
#include "actors/host/doctor/read_files.h"
#include "actors/peer/peers.h"
#include "config/memory_sizes.h"
#include "nic/dpdk/memory_need.h"
#include "nic/port_kind.h"

#include <fmt/format.h>
#include <unistd.h>

namespace pinstrike::actors {

namespace {

std::string hugepages_text(const std::vector<nic::dpdk::Hugepages>& pages) {
    std::string text;
    for (const nic::dpdk::Hugepages& size : pages) {
        text +=
            fmt::format("hugepages of {} MiB on node {}: {} free of {}\n",
                        size.page_bytes / mebibyte, size.node, size.free_count, size.total_count);
    }
    return text.empty() ? "this kernel has no hugepages\n" : text;
}

void check_sources(const HostResources& host, const nic::PortConfig& port, Problems& problems) {
    if (nic::row_of(port.kind).uses_eal) {
        return;  // nic::dpdk::check_ports() checks the sources of these ports
    }
    const std::string interface = nic::property_of(port, &nic::PortKindRow::interface);
    if (!interface.empty() && !host.interfaces.contains(interface)) {
        add_problem(problems, Place{},
                    fmt::format("port {}: there is no interface {}", port.name, interface),
                    Remedy::retry);  // the interface may appear later
    }
    for (const std::string& file : nic::property_of(port, &nic::PortKindRow::files)) {
        if (!host.files.contains(file)) {
            add_problem(problems, Place{},
                        fmt::format("port {}: {} cannot be read", port.name, file));
        }
    }
}

/// The rights and system calls that remain while the program runs.
std::string confinement_text(const FeedConfig& config, const Topology& topology) {
    std::string text =
        fmt::format("rights kept after the start: {}\n", to_text(rights_kept(config)));
    if (config.system_calls == SystemCalls::free) {
        return text + "system calls of pollers and cores: any (system_calls: free)\n";
    }
    for (const PollerPlan& poller : topology.pollers) {
        text += fmt::format("system calls of {}: {}\n", poller.name,
                            to_text(poller_calls(config, poller.ports)));
    }
    return text + fmt::format("system calls of cores: {}, and those of their actors\n",
                              to_text(core_calls({})));
}

/// Whether the host has enough hugepages for published memory and DPDK together. check_topology()
/// checks those of published memory. Pages that are not free may be those of an earlier start,
/// whose file the next start removes.
void report_published(const HostResources& host, const FeedConfig& config, const Topology& topology,
                      HostReport& report) {
    if (!topology.published_on_hugepages) {
        return;
    }
    std::size_t all_bytes = 0;
    for (const nic::dpdk::Hugepages& size : host.dpdk.hugepages) {
        all_bytes += size.page_bytes * size.total_count;
    }
    std::size_t need = 0;
    for (const auto& [node, pages] : hugepages_needed(config, topology)) {
        need += pages;
    }
    const std::size_t published = topology.published_bytes / huge_page_bytes;
    need -= published;  // needed only by a restart while readers map the old file
    report.text += fmt::format(
        "published memory {} hugepages of 2 MiB, half of them for a restart\n", 2 * published);
    if (need > published && all_bytes / huge_page_bytes < need) {
        add_problem(
            report.problems, Place{},
            fmt::format("publish.memory: found {} MiB of hugepages, expected {} for "
                        "published memory and the ports: `systemctl start "
                        "pinstrike-hugepages`, or `echo {} > {}`",
                        all_bytes / mebibyte, 2 * need, need, nic::dpdk::hugepages_file(-1)));
    }
}

}  // namespace

HostResources read_host_resources(const FeedConfig& config) {
    const std::vector<std::string> interfaces = doctor::names_in("/sys/class/net");
    HostResources host{read_machine_for(config),
                       nic::dpdk::read_port_resources(),
                       {interfaces.begin(), interfaces.end()},
                       {},
                       {}};
    for (const nic::PortConfig& port : config.ports) {
        for (const std::string& file : nic::property_of(port, &nic::PortKindRow::files)) {
            if (::access(file.c_str(), R_OK) == 0) {  // opening a pipe would consume its bytes
                host.files.insert(file);
            }
        }
        if (const auto check = nic::row_of(port.kind).check_content; check != nullptr) {
            check(port, host.content);
        }
    }
    return host;
}

HostReport report_on(const HostResources& host, const FeedConfig& config,
                     const Topology& topology) {
    HostReport report{check_topology(topology, config, host.machine), {}};
    for (const nic::PortConfig& port : config.ports) {
        check_sources(host, port, report.problems);
    }
    report.problems.insert(report.problems.end(), host.content.begin(), host.content.end());
    if (config.peer.present()) {
        peer::check_files(config.peer, report.problems);
    }
    report.text =
        fmt::format("memory of {} {} MiB, {} cpus for this process\n", host.machine.memory_owner,
                    host.machine.memory_bytes / mebibyte, host.machine.cpus.size());
    report.text += confinement_text(config, topology);
    report_published(host, config, topology, report);
    const auto demands = dpdk_demands(config, topology);
    if (demands.empty()) {
        report.text += topology.published_on_hugepages
                           ? hugepages_text(host.dpdk.hugepages)
                           : "no hugepages needed: no port of kind dpdk\n";
        return report;
    }
    report.text += nic::dpdk::memory_need_text(demands) + hugepages_text(host.dpdk.hugepages);
    const Problems wrong = nic::dpdk::check_ports(demands, host.dpdk);
    report.problems.insert(report.problems.end(), wrong.begin(), wrong.end());
    return report;
}

}  // namespace pinstrike::actors
