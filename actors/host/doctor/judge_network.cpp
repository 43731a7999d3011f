// path: cold
//
// Judges ports that use the kernel, and the path of multicast to them.
#include "actors/host/doctor/fixes.h"
#include "actors/host/doctor/judge.h"
#include "config/units.h"
#include "nic/packet/address.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace pinstrike::actors::doctor {
namespace {

/// Packets that queue up in 2 ms before a late softirq, at 8 M packets/s, the peak of one stream.
constexpr std::int64_t backlog_packets = 16384;

bool is_uring(const PortNeed& port) {
    return port.config.kind == nic::PortKind::uring;
}

void judge_interface(const Host& host, const PortNeed& port, Findings& findings) {
    Finding finding{.id = "interface." + port.interface,
                    .severity = Severity::ok,
                    .what = fmt::format("interface {} of {}", port.interface, port.name),
                    .seen = "up, multicast",
                    .wanted = "up, multicast, with carrier",
                    .why =
                        "groups are joined on an interface by its number, whatever the routes: "
                        "it must be up and able to",
                    .fix = {}};
    const auto found = host.interfaces.find(port.interface);
    if (found == host.interfaces.end()) {
        finding.severity = Severity::error;
        finding.seen = "there is none of this name";
        finding.fix = advice_fix("`ip link` lists those there are; write it into the config");
    } else if (!found->second.up || !found->second.multicast) {
        const std::string lack = found->second.up ? "multicast on" : "up";
        finding.severity = Severity::error;
        finding.seen = found->second.up ? "up, but without MULTICAST" : "down";
        finding.fix.command =
            fmt::format("ip link set dev {} {}", shell_word(port.interface), lack);
        finding.fix.now = {finding.fix.command};
        finding.fix.advice = "and in the host's network configuration, for the next boot";
    } else if (!found->second.running) {
        finding.severity = Severity::error;
        finding.seen = "up, but no carrier";
        finding.fix = advice_fix("cable, transceiver, the switch's port");
    }
    findings.push_back(std::move(finding));
}

/// Switches accept IGMP reports only with a valid source address.
void judge_address(const Host& host, const PortNeed& port, Findings& findings) {
    const auto interface = host.interfaces.find(port.interface);
    if (interface == host.interfaces.end() || port.config.membership != nic::Membership::igmp) {
        return;
    }
    const bool own = port.config.source_address != nic::Ipv4{};
    const std::string address = nic::text_of(port.config.source_address);
    Finding finding{.id = "address." + port.interface,
                    .severity = Severity::ok,
                    .what = fmt::format("address of {} ({})", port.name, port.interface),
                    .seen = "",
                    .wanted = own ? address : "an IPv4 address",
                    .why =
                        "IGMP reports come from it; with none they come from 0.0.0.0, which some "
                        "switches and routers do not heed",
                    .fix = {}};
    if (!interface->second.addresses) {
        finding.severity = Severity::unknown;
        finding.seen = "not visible";
        findings.push_back(std::move(finding));
        return;
    }
    const std::vector<std::string>& there = *interface->second.addresses;
    for (const std::string& one : there) {
        finding.seen += (finding.seen.empty() ? "" : ", ") + one;
    }
    if (there.empty()) {
        finding.seen = "none";
    }
    if (own ? std::find(there.begin(), there.end(), address) == there.end() : there.empty()) {
        finding.severity = Severity::warning;
        finding.fix.command =
            fmt::format("ip address add ADDRESS/PREFIX dev {}", shell_word(port.interface));
        finding.fix.advice = own ? "or the interface's own in `source_address`" : "";
    }
    findings.push_back(std::move(finding));
}

void judge_reverse_path(const Host& host, const PortNeed& port, Findings& findings) {
    const auto interface = host.interfaces.find(port.interface);
    if (interface == host.interfaces.end()) {
        return;
    }
    Finding finding{.id = "rp_filter." + port.interface,
                    .severity = Severity::ok,
                    .what = "reverse path filter of " + port.interface,
                    .seen = "off",
                    .wanted = "off (0), or loose (2) with a route to the senders",
                    .why =
                        "strict, it drops multicast from senders that are not routed over the "
                        "interface, and counts it nowhere",
                    .fix = {}};
    constexpr int loose = 2;
    const std::optional<int> filter = interface->second.reverse_path_filter;
    if (!filter) {
        finding.severity = Severity::unknown;
        finding.seen = "not visible";
    } else if (*filter != 0) {
        const bool routed =
            std::any_of(host.interfaces.begin(), host.interfaces.end(),
                        [](const auto& entry) { return entry.second.default_route; });
        finding.seen = *filter == loose ? (routed ? "loose, and there is a default route"
                                                  : "loose, and there is no default route")
                                        : "strict";
        if (*filter != loose || !routed) {
            finding.severity = Severity::warning;
            finding.fix = sysctl_fix("net/ipv4/conf/all/rp_filter", 0);
            const Fix own = sysctl_fix("net/ipv4/conf/" + port.interface + "/rp_filter", 0);
            finding.fix.command += " && " + own.command;
            finding.fix.now.push_back(own.command);
            finding.fix.lasting.push_back(own.lasting.front());
        }
    }
    findings.push_back(std::move(finding));
}

struct Tunable {
    const char* id;
    const char* key;  ///< of Host::sysctls
    const char* path;
    std::string what;
    std::int64_t wanted;
    const char* why;
    Severity lacking;
};

void judge_tunable(const Host& host, const Tunable& tunable, Findings& findings) {
    Finding finding{
        .id = tunable.id,
        .severity = Severity::ok,
        .what = tunable.what,
        .seen = "not visible",
        .wanted = fmt::format("{} or more", grouped(static_cast<std::uint64_t>(tunable.wanted))),
        .why = tunable.why,
        .fix = {}};
    const auto value = host.sysctls.find(tunable.key);
    if (value == host.sysctls.end()) {
        finding.severity = Severity::unknown;
    } else {
        finding.seen = grouped(static_cast<std::uint64_t>(value->second));
        if (value->second < tunable.wanted) {
            finding.severity = tunable.lacking;
            finding.fix = sysctl_fix(tunable.path, tunable.wanted);
        }
    }
    findings.push_back(std::move(finding));
}

void judge_kernel_buffers(const Host& host, const Need& need, Findings& findings) {
    std::size_t buffer_bytes = 0;
    for (const PortNeed& port : need.ports) {
        buffer_bytes = std::max(buffer_bytes, is_uring(port) ? port.config.kernel_buffer_bytes : 0);
    }
    const bool exceeds = host.capabilities.has(nic::dpdk::Capabilities::net_admin);
    judge_tunable(
        host,
        {"rmem_max", "net.core.rmem_max", "net/core/rmem_max", "largest socket buffer, bytes",
         static_cast<std::int64_t>(buffer_bytes),
         exceeds ? "kernel_buffer asks for this; with CAP_NET_ADMIN, as here, it is granted "
                   "beyond the limit, but a service may not have it"
                 : "kernel_buffer asks for this, and gets no more than the limit: a "
                   "shorter stop of the poller then loses packets",
         exceeds ? Severity::advice : Severity::warning},
        findings);
    judge_tunable(host,
                  {"igmp_max_memberships", "net.ipv4.igmp_max_memberships",
                   "net/ipv4/igmp_max_memberships", "groups a socket may join", 1,
                   "a uring port joins one group a socket, so any limit will do", Severity::error},
                  findings);
    judge_tunable(
        host,
        {"netdev_max_backlog", "net.core.netdev_max_backlog", "net/core/netdev_max_backlog",
         "packets that wait for a softirq", backlog_packets,
         "behind virtual interfaces, and with receive packet steering, packets wait here; "
         "what finds it full is dropped",
         Severity::advice},
        findings);
}

/// Group memberships can only be seen on the network.
void judge_membership(const PortNeed& port, Findings& findings) {
    const bool reports = port.config.membership == nic::Membership::igmp;
    findings.push_back(
        {.id = "membership." + port.name,
         .severity = Severity::unknown,
         .what = "groups joined by " + port.name,
         .seen = reports ? fmt::format("the port will report them itself, from {}",
                                       nic::text_of(port.config.source_address))
                         : "membership: static, the switch must send them unasked",
         .wanted = "the switch sends every group to this NIC",
         .why =
             "past the kernel nothing here knows of memberships; what the switch does shows only "
             "when the program runs",
         .fix = advice_fix(reports ? "`show ip igmp snooping groups` on the switch once it runs"
                                   : "static groups on the switch's port")});
}

/// A service that cannot listen at its address does not start. For one config `check` has more
/// details.
void judge_endpoints(const Need& need, Findings& findings) {
    std::string shared;
    for (auto first = need.endpoints.begin(); first != need.endpoints.end();) {
        const auto end = need.endpoints.upper_bound(first->first);
        if (std::next(first) != end) {
            shared += (shared.empty() ? "" : "; ") + first->first + " is that of";
            for (auto feed = first; feed != end; ++feed) {
                shared += (feed == first ? " " : " and ") + feed->second;
            }
        }
        first = end;
    }
    findings.push_back(
        {.id = "metrics_address",
         .severity = shared.empty() ? Severity::ok : Severity::error,
         .what = "addresses of metrics",
         .seen = shared.empty() ? fmt::format("{}, all different", need.endpoints.size()) : shared,
         .wanted = "one for each feed",
         .why = "the feed that starts second finds its address taken and does not start",
         .fix = shared.empty()
                    ? Fix{}
                    : advice_fix("another `metrics_address` in all but one of the configs")});
}

}  // namespace

void judge_network(const Host& host, const Need& need, Findings& findings) {
    bool any_uring = false;
    for (const PortNeed& port : need.ports) {
        if (!port.interface.empty()) {
            judge_interface(host, port, findings);
            judge_address(host, port, findings);
        }
        if (is_uring(port)) {
            any_uring = true;
            judge_reverse_path(host, port, findings);
        }
        if (port.config.kind == nic::PortKind::dpdk &&
            (!port.config.pci.empty() || !port.interface.empty())) {
            judge_membership(port, findings);
        }
    }
    if (any_uring) {
        judge_kernel_buffers(host, need, findings);
    }
    if (need.configs > 1) {
        judge_endpoints(need, findings);
    }
}

}  // namespace pinstrike::actors::doctor
