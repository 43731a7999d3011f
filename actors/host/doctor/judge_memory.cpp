// path: cold
#include "actors/host/doctor/fixes.h"
#include "actors/host/doctor/judge.h"
#include "config/memory_sizes.h"
#include "config/units.h"
#include "nic/port_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

namespace pinstrike::actors::doctor {
namespace {

using enum Severity;

/// Greater than every node, so that its fix comes after theirs.
constexpr int all_nodes = std::numeric_limits<int>::max();

/// Bytes of hugepages that ports need on the NUMA nodes of their devices, and the sum of all needs.
/// The sum has what may be on any node too: DPDK itself and published memory, which counts twice,
/// because readers may still map that of the previous start.
std::map<int, std::size_t> hugepage_needs(const Host& host, const Need& need) {
    std::map<int, std::size_t> needs;
    std::size_t sum = need.dpdk_programs * nic::dpdk::runtime_bytes + 2 * need.published_huge_bytes;
    for (const nic::dpdk::PortDemand& port : need.dpdk) {
        const std::size_t bytes = nic::dpdk::memory_need(port).total_bytes;
        const HostNic* nic =
            host.find_nic(nic::property_of(port.config, &nic::PortKindRow::pci_address));
        sum += bytes;
        if (nic != nullptr && nic->node >= 0) {
            needs[nic->node] += bytes;
        }
    }
    if (sum != 0) {
        needs[all_nodes] = sum;
    }
    return needs;
}

struct PagesOfNode {
    std::size_t total_bytes = 0;
    std::size_t free_bytes = 0;
    std::size_t small_count = 0;  ///< pages of 2 MiB
};

PagesOfNode pages_on(const Host& host, int node) {
    PagesOfNode pages;
    for (const nic::dpdk::Hugepages& size : host.hugepages) {
        if (node != all_nodes && size.node != static_cast<unsigned>(node)) {
            continue;
        }
        pages.total_bytes += size.page_bytes * size.total_count;
        pages.free_bytes += size.page_bytes * size.free_count;
        pages.small_count += size.page_bytes == huge_page_bytes ? size.total_count : 0;
    }
    return pages;
}

/// Pages in use belong to other programs, unless an instance of pinstrike runs.
std::size_t pages_lacking(const Host& host, int node, std::size_t need_bytes) {
    const PagesOfNode pages = pages_on(host, node);
    const std::size_t usable = host.runs("pinstrike") ? pages.total_bytes : pages.free_bytes;
    const std::size_t lacking = need_bytes > usable ? need_bytes - usable : 0;
    return (lacking + huge_page_bytes - 1) / huge_page_bytes;
}

Fix hugepage_fix(int node, std::size_t count) {
    // By these names the file of all nodes is applied after the others at a boot too.
    const bool all = node == all_nodes;
    Fix fix = sysfs_fix(all ? "hugepages-total" : fmt::format("hugepages-node{}", node),
                        {{nic::dpdk::hugepages_file(all ? -1 : node), std::to_string(count)}});
    fix.advice =
        "fragmented memory gives fewer pages than requested, so check again; early after boot is "
        "best";
    return fix;
}

Measured hugepages(const Host& host, int node, std::size_t need_bytes, std::size_t pages_to_add) {
    if (host.hugepages.empty()) {
        return {host.container.empty() ? error : unknown, "the kernel shows none",
                advice_fix("a kernel with CONFIG_HUGETLBFS (Debian's has it)")};
    }
    const PagesOfNode pages = pages_on(host, node);
    const std::string seen =
        fmt::format("{} MiB free of {} MiB", grouped(pages.free_bytes / mebibyte),
                    grouped(pages.total_bytes / mebibyte));
    if (pages.free_bytes >= need_bytes) {
        return {ok, seen};
    }
    if (pages.total_bytes >= need_bytes && host.runs("pinstrike")) {
        return {advice, seen + ", which the running instance may use"};
    }
    return {error, seen, hugepage_fix(node, pages.small_count + pages_to_add)};
}

Measured ordinary_memory(const Host& host, std::size_t need_bytes) {
    if (!host.free_bytes) {
        return {unknown, "not visible: /proc/meminfo cannot be read"};
    }
    const std::string seen = grouped(*host.free_bytes / mebibyte) + " MiB free";
    if (*host.free_bytes >= need_bytes) {
        return {ok, seen};
    }
    return host.runs("pinstrike") ? Measured{advice, seen + ", and an instance runs"}
                                  : Measured{error, seen};
}

Measured transparent_hugepages(const std::string& seen) {
    if (seen.empty() || seen == "madvise") {
        return seen.empty() ? Measured{unknown, "not visible"} : Measured{ok, seen};
    }
    return {seen == "always" ? warning : advice, seen,
            sysfs_fix("thp", {{"/sys/kernel/mm/transparent_hugepage/enabled", "madvise"}})};
}

void judge_hugepages(const Host& host, const Need& need, Findings& findings) {
    std::size_t added = 0;  // by the fixes of nodes, which the fix of all nodes must not remove
    for (const auto& [node, bytes] : hugepage_needs(host, need)) {
        const std::size_t lacking = pages_lacking(host, node, bytes);
        add_finding(
            findings, Check::hugepages,
            hugepages(host, node, bytes, node == all_nodes ? std::max(lacking, added) : lacking),
            fmt::arg("of_node", node == all_nodes ? "" : fmt::format(".node{}", node)),
            fmt::arg("on_node", node == all_nodes ? "" : fmt::format(" on node {}", node)),
            fmt::arg("need_mib", mebibytes_text(bytes)),
            fmt::arg("need_pages", grouped((bytes + huge_page_bytes - 1) / huge_page_bytes)));
        added += lacking;
    }
}

}  // namespace

void judge_memory(const Host& host, const Need& need, Findings& findings) {
    judge_hugepages(host, need, findings);
    if (need.configs != 0) {
        add_finding(findings, Check::memory, ordinary_memory(host, need.memory_bytes),
                    fmt::arg("need_mib", mebibytes_text(need.memory_bytes)));
    }
    add_finding(findings, Check::transparent_hugepages,
                transparent_hugepages(host.transparent_hugepages));
    // Neither one node nor a kernel without NUMA balancing needs the check.
    const auto balancing = host.sysctls.find("kernel/numa_balancing");
    if (host.nodes_count() > 1 && balancing != host.sysctls.end()) {
        add_finding(findings, Check::numa_balancing,
                    balancing->second == 0
                        ? Measured{ok, "off"}
                        : Measured{warning, "on", sysctl_fix("kernel/numa_balancing", 0)});
    }
}

}  // namespace pinstrike::actors::doctor
