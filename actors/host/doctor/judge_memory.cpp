// path: cold
#include "actors/host/doctor/fixes.h"
#include "actors/host/doctor/judge.h"
#include "config/units.h"
#include "nic/dpdk/vdev.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace pinstrike::actors::doctor {
namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;
constexpr std::size_t page_bytes = 2 * mebibyte;
constexpr int any_node = -1;

std::size_t mebibytes(std::size_t bytes) {
    return (bytes + mebibyte - 1) / mebibyte;
}

/// Bytes of hugepages by NUMA node. Ports need them on the node of their device. All others, and
/// DPDK itself, are counted on the node that needs most, or on any node.
std::map<int, std::size_t> hugepage_needs(const Host& host, const Need& need) {
    std::map<int, std::size_t> needs;
    std::size_t anywhere = need.dpdk_programs * nic::dpdk::runtime_bytes;
    for (const nic::dpdk::PortDemand& port : need.dpdk) {
        const std::size_t bytes = nic::dpdk::memory_need(port).total_bytes;
        const HostNic* nic = host.find_nic(nic::dpdk::device_name(port.config));
        if (nic != nullptr && nic->node >= 0) {
            needs[nic->node] += bytes;
        } else {
            anywhere += bytes;
        }
    }
    const auto most =
        std::max_element(needs.begin(), needs.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    needs[most == needs.end() ? any_node : most->first] += anywhere;
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
        if (node != any_node && size.node != static_cast<unsigned>(node)) {
            continue;
        }
        pages.total_bytes += size.page_bytes * size.total_count;
        pages.free_bytes += size.page_bytes * size.free_count;
        pages.small_count += size.page_bytes == page_bytes ? size.total_count : 0;
    }
    return pages;
}

/// Pages in use belong to other programs, unless an instance of pinstrike runs.
std::size_t pages_wanted(const Host& host, const PagesOfNode& pages, std::size_t need_bytes) {
    const std::size_t usable = host.runs("pinstrike") ? pages.total_bytes : pages.free_bytes;
    const std::size_t lacking = need_bytes > usable ? need_bytes - usable : 0;
    return pages.small_count + (lacking + page_bytes - 1) / page_bytes;
}

Fix hugepage_fix(int node, std::size_t count) {
    const std::string pages = "hugepages/hugepages-2048kB/nr_hugepages";
    if (node == any_node) {
        return sysctl_fix("vm/nr_hugepages", static_cast<std::int64_t>(count));
    }
    Fix fix = sysfs_fix(
        fmt::format("hugepages-node{}", node),
        {{fmt::format("/sys/devices/system/node/node{}/{}", node, pages), std::to_string(count)}});
    fix.advice =
        "memory in small pieces gives fewer than asked for: look again, early after boot is best";
    return fix;
}

void judge_hugepages(const Host& host, int node, std::size_t need_bytes, Findings& findings) {
    const PagesOfNode pages = pages_on(host, node);
    const std::string where = node == any_node ? "" : fmt::format(" on node {}", node);
    Finding finding{
        .id = node == any_node ? "hugepages" : fmt::format("hugepages.node{}", node),
        .severity = Severity::ok,
        .what = "hugepages" + where,
        .seen = fmt::format("{} MiB free of {} MiB", grouped(pages.free_bytes / mebibyte),
                            grouped(pages.total_bytes / mebibyte)),
        .wanted = fmt::format("{} MiB free ({} pages of 2 MiB)", grouped(mebibytes(need_bytes)),
                              grouped((need_bytes + page_bytes - 1) / page_bytes)),
        .why =
            "NICs write packets into them; short of them, or on another node than the NIC, the "
            "program does not start, or each packet crosses between sockets",
        .fix = {}};
    if (host.hugepages.empty()) {
        finding.severity = host.container.empty() ? Severity::error : Severity::unknown;
        finding.seen = "the kernel shows none";
        finding.fix = advice_fix("a kernel with CONFIG_HUGETLBFS (Debian's has it)");
    } else if (pages.free_bytes < need_bytes) {
        const bool perhaps_its_own = pages.total_bytes >= need_bytes && host.runs("pinstrike");
        finding.severity = perhaps_its_own ? Severity::advice : Severity::error;
        if (perhaps_its_own) {
            finding.seen += ", and an instance runs: it may be what uses them";
        } else {
            finding.fix = hugepage_fix(node, pages_wanted(host, pages, need_bytes));
        }
    }
    findings.push_back(std::move(finding));
}

void judge_ordinary_memory(const Host& host, const Need& need, Findings& findings) {
    Finding finding{.id = "memory",
                    .severity = Severity::ok,
                    .what = "memory beside hugepages",
                    .seen = "not visible: /proc/meminfo cannot be read",
                    .wanted = fmt::format("{} MiB free", grouped(mebibytes(need.memory_bytes))),
                    .why =
                        "rings, books and histories are claimed at the start; with more than is "
                        "free the kernel kills something, most likely this",
                    .fix = {}};
    if (!host.free_bytes) {
        finding.severity = Severity::unknown;
    } else {
        finding.seen = fmt::format("{} MiB free", grouped(*host.free_bytes / mebibyte));
        if (*host.free_bytes < need.memory_bytes) {
            finding.severity = host.runs("pinstrike") ? Severity::advice : Severity::error;
            finding.seen += host.runs("pinstrike") ? ", and an instance runs" : "";
            finding.fix = advice_fix("more memory, or less of ring_slots, series_capacity, hold");
        }
    }
    findings.push_back(std::move(finding));
}

void judge_transparent(const Host& host, Findings& findings) {
    Finding finding{.id = "transparent_hugepages",
                    .severity = Severity::ok,
                    .what = "transparent hugepages",
                    .seen = host.transparent_hugepages,
                    .wanted = "madvise",
                    .why =
                        "with always, the kernel moves memory of any program together and stops "
                        "its threads meanwhile; with madvise only what asks for it, as the "
                        "book's tables do",
                    .fix = {}};
    if (host.transparent_hugepages.empty()) {
        finding.severity = Severity::unknown;
        finding.seen = "not visible";
    } else if (host.transparent_hugepages != "madvise") {
        finding.severity =
            host.transparent_hugepages == "always" ? Severity::warning : Severity::advice;
        finding.fix =
            sysfs_fix("thp", {{"/sys/kernel/mm/transparent_hugepage/enabled", "madvise"}});
    }
    findings.push_back(std::move(finding));
}

void judge_numa_balancing(const Host& host, Findings& findings) {
    const auto value = host.sysctls.find("kernel.numa_balancing");
    if (host.nodes_count() < 2 || value == host.sysctls.end()) {
        return;  // one node, or a kernel without NUMA balancing
    }
    const bool off = value->second == 0;
    findings.push_back({.id = "numa_balancing",
                        .severity = off ? Severity::ok : Severity::warning,
                        .what = "automatic NUMA balancing",
                        .seen = off ? "off" : "on",
                        .wanted = "off",
                        .why = "the kernel takes pages away to see who misses them: hot threads "
                               "stop for page faults",
                        .fix = off ? Fix{} : sysctl_fix("kernel/numa_balancing", 0)});
}

}  // namespace

void judge_memory(const Host& host, const Need& need, Findings& findings) {
    if (!need.dpdk.empty()) {
        for (const auto& [node, bytes] : hugepage_needs(host, need)) {
            judge_hugepages(host, node, bytes, findings);
        }
    }
    if (need.configs != 0) {
        judge_ordinary_memory(host, need, findings);
    }
    judge_transparent(host, findings);
    judge_numa_balancing(host, findings);
}

}  // namespace pinstrike::actors::doctor
