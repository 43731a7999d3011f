// path: cold
//
// Checks ports that use the kernel, and the path of multicast to them.
#include "actors/host/doctor/fixes.h"
#include "actors/host/doctor/judge.h"
#include "config/joined.h"
#include "config/units.h"
#include "nic/packet/address.h"
#include "nic/port_kind.h"

#include <fmt/format.h>

#include <algorithm>

namespace pinstrike::actors::doctor {
namespace {

using enum Severity;

/// Packets that queue up in 2 ms before a late softirq, at 8 M packets/s, the peak of one stream.
constexpr std::int64_t backlog_packets = 16384;

Measured interface_state(const PortNeed& port, const HostInterface* interface) {
    if (interface == nullptr) {
        return {error, "no interface has this name",
                advice_fix("`ip link` lists the interfaces; write the right name into the config")};
    }
    if (interface->up && interface->multicast) {
        return interface->running ? Measured{ok, "up, multicast"}
                                  : Measured{error, "up, but no carrier"};
    }
    const std::string command = fmt::format("ip link set dev {} {}", shell_word(port.interface),
                                            interface->up ? "multicast on" : "up");
    return {error,
            interface->up ? "up, but without MULTICAST" : "down",
            {command,
             "also change the host's network configuration, for the next boot",
             {command},
             {}}};
}

/// Switches accept IGMP reports only with a valid source address. `own`: the one in the config, if
/// any.
Measured address(const PortNeed& port, const HostInterface& interface, const std::string& own) {
    if (!interface.addresses) {
        return {unknown, "not visible"};
    }
    const std::vector<std::string>& seen = *interface.addresses;
    if (own.empty() ? !seen.empty() : std::ranges::count(seen, own) != 0) {
        return {ok, joined(seen)};
    }
    return {warning,
            seen.empty() ? "none" : joined(seen),
            {"ip address add ADDRESS/PREFIX dev " + shell_word(port.interface),
             own.empty() ? "" : "or set `source_address` to an address of the interface",
             {},
             {}}};
}

Measured reverse_path_filter(const Host& host, const PortNeed& port,
                             const HostInterface& interface) {
    constexpr int loose = 2;
    if (!interface.reverse_path_filter) {
        return {unknown, "not visible"};
    }
    const int filter = *interface.reverse_path_filter;
    const bool routed = std::ranges::any_of(
        host.interfaces, [](const auto& entry) { return entry.second.default_route; });
    if (filter == 0 || (filter == loose && routed)) {
        return {ok, filter == 0 ? "off" : "loose, and there is a default route"};
    }
    Fix fix = sysctl_fix("net/ipv4/conf/all/rp_filter", 0);
    const Fix own = sysctl_fix("net/ipv4/conf/" + port.interface + "/rp_filter", 0);
    fix.command += " && " + own.command;
    fix.now.push_back(own.command);
    fix.lasting.push_back(own.lasting.front());
    return {warning, filter == loose ? "loose, and there is no default route" : "strict", fix};
}

/// A setting that must not be below `least`.
Measured setting(const Host& host, const std::string& key, std::int64_t least, Severity lacking) {
    const auto value = host.sysctls.find(key);
    if (value == host.sysctls.end()) {
        return {unknown, "not visible"};
    }
    const std::string seen = grouped(static_cast<std::uint64_t>(value->second));
    return value->second < least ? Measured{lacking, seen, sysctl_fix(key, least)}
                                 : Measured{ok, seen};
}

/// Group memberships can only be seen on the network. `own`: the source address of the port's
/// reports, if it sends any.
Measured membership(const std::string& own) {
    return !own.empty()
               ? Measured{unknown, "the port will send IGMP reports from " + own,
                          advice_fix("run `show ip igmp snooping groups` on the switch while the "
                                     "program runs")}
               : Measured{unknown,
                          "membership: static, so the switch must send them without reports",
                          advice_fix("configure static groups on the switch's port")};
}

/// A service that cannot listen at its address does not start. For one config `check` has more
/// details.
Measured endpoints(const std::multimap<std::string, std::string>& endpoints) {
    std::vector<std::string> shared;
    for (auto first = endpoints.begin(); first != endpoints.end();) {
        std::vector<std::string> feeds;
        const std::string& address = first->first;
        for (; first != endpoints.end() && first->first == address; ++first) {
            feeds.push_back(first->second);
        }
        if (feeds.size() > 1) {
            shared.push_back(address + " is used by " + joined(feeds, " and "));
        }
    }
    return shared.empty() ? Measured{ok, fmt::format("{}, all different", endpoints.size())}
                          : Measured{error, joined(shared, "; ")};
}

void judge_port(const Host& host, const PortNeed& port, Findings& findings) {
    const auto found = host.interfaces.find(port.interface);
    const HostInterface* interface = found == host.interfaces.end() ? nullptr : &found->second;
    const nic::PortKindRow& kind = nic::row_of(port.config.kind);
    const nic::Ipv4 from = nic::property_of(port.config, &nic::PortKindRow::report_address);
    const std::string own = from == nic::Ipv4{} ? "" : nic::text_of(from);
    const auto add = [&](Check check, Measured measured) {
        add_finding(findings, check, std::move(measured), fmt::arg("port", port.name),
                    fmt::arg("interface", port.interface),
                    fmt::arg("address", own.empty() ? "an IPv4 address" : own));
    };
    if (!port.interface.empty()) {
        add(Check::interface, interface_state(port, interface));
        if (interface != nullptr && (kind.socket_for_each_group || !own.empty())) {
            add(Check::address, address(port, *interface, own));
        }
    }
    if (interface != nullptr && kind.socket_for_each_group) {
        add(Check::rp_filter, reverse_path_filter(host, port, *interface));
    }
    if (kind.uses_eal && (!port.pci_address.empty() || !port.interface.empty())) {
        add(Check::membership, membership(own));
    }
}

void judge_settings(const Host& host, std::size_t buffer_bytes, Findings& findings) {
    const auto add = [&](Check check, std::int64_t least, Measured measured) {
        add_finding(findings, check, std::move(measured),
                    fmt::arg("least", grouped(static_cast<std::uint64_t>(least))));
    };
    const auto bytes = static_cast<std::int64_t>(buffer_bytes);
    const bool exceeds = host.capabilities.has(nic::dpdk::Capabilities::net_admin);
    Measured rmem = setting(host, "net/core/rmem_max", bytes, exceeds ? advice : warning);
    rmem.special = exceeds ? Check::rmem_max_as_net_admin : Check::rmem_max;
    add(Check::rmem_max, bytes, rmem);
    add(Check::igmp_max_memberships, 1, setting(host, "net/ipv4/igmp_max_memberships", 1, error));
    add(Check::netdev_max_backlog, backlog_packets,
        setting(host, "net/core/netdev_max_backlog", backlog_packets, advice));
}

}  // namespace

void judge_network(const Host& host, const Need& need, Findings& findings) {
    std::optional<std::size_t> buffer_bytes;  // nullopt: no port has sockets
    for (const PortNeed& port : need.ports) {
        judge_port(host, port, findings);
        if (nic::row_of(port.config.kind).socket_for_each_group) {
            buffer_bytes =
                std::max(buffer_bytes.value_or(0),
                         nic::property_of(port.config, &nic::PortKindRow::socket_buffer_bytes));
        }
    }
    if (buffer_bytes) {
        judge_settings(host, *buffer_bytes, findings);
    }
    if (need.configs > 1) {
        add_finding(findings, Check::metrics_address, endpoints(need.endpoints));
    }
}

}  // namespace pinstrike::actors::doctor
