// path: cold
#include "actors/host/doctor/fixes.h"
#include "actors/host/doctor/judge.h"
#include "config/joined.h"
#include "nic/port_needs.h"

#include <fmt/format.h>

#include <algorithm>

namespace pinstrike::actors::doctor {
namespace {

using enum Severity;

Measured iommu(const Host& host) {
    if (host.iommu_groups != 0) {
        return {ok, fmt::format("on, {} groups", host.iommu_groups)};
    }
    Fix fix = boot_fix("iommu", host.cpu_vendor == "AuthenticAMD" ? "amd_iommu=on iommu=pt"
                                                                  : "intel_iommu=on iommu=pt");
    fix.advice = host.hypervisor ? "the hypervisor must give the machine an IOMMU as well"
                                 : "enable VT-d or AMD-Vi in the firmware's settings as well";
    return host.vfio_without_iommu
               ? Measured{warning,
                          "off; vfio is set to work without it (enable_unsafe_noiommu_mode)", fix}
               : Measured{error, "off: no groups in /sys/kernel/iommu_groups", fix};
}

Measured vfio(const Host& host) {
    return host.vfio_pci ? Measured{ok, "available"}
                         : Measured{error,
                                    "not loaded",
                                    {"modprobe vfio-pci",
                                     "",
                                     {"modprobe vfio-pci"},
                                     {"keep /etc/modules-load.d/pinstrike-vfio.conf vfio-pci"}}};
}

/// The script does not unbind a NIC that carries the host's default route.
Fix binding_fix(const Host& host, const HostNic& nic) {
    const std::string command = fmt::format("driverctl set-override {} vfio-pci", nic.address);
    const auto interface = host.interfaces.find(nic.interface);
    if (interface != host.interfaces.end() &&
        (interface->second.default_route || interface->second.other_default_route)) {
        return {command,
                nic.interface +
                    " carries the default route of this host, so the script does not bind it; give "
                    "the feed another NIC, or move the route first",
                {},
                {}};
    }
    return {command, "", {}, {command}};  // driverctl applies the override at once and at each boot
}

Measured binding(const Host& host, const HostNic& nic) {
    const std::string seen = (nic.driver.empty() ? "bound to no driver" : nic.driver) +
                             (nic.interface.empty() ? "" : ", interface " + nic.interface);
    if (nic.driver == "vfio-pci" || nic::shares_device(nic.driver)) {
        return {ok, seen};
    }
    if (nic.driver == "uio_pci_generic" || nic.driver == "igb_uio") {
        return {warning, seen, binding_fix(host, nic), Check::binding_to_uio};
    }
    return {error, seen, binding_fix(host, nic)};
}

Measured iommu_group(const HostNic& nic) {
    std::vector<std::string> others;
    for (const GroupMember& member : nic.group_members) {
        if (!member.bridge && !member.driver.empty() && member.driver != "vfio-pci" &&
            member.driver != "pci-stub") {
            others.push_back(fmt::format("{} ({})", member.address, member.driver));
        }
    }
    return {others.empty() ? ok : error,
            fmt::format("group {}, {}", *nic.iommu_group,
                        !others.empty()             ? "with " + joined(others)
                        : nic.group_members.empty() ? "alone"
                                                    : "no other device in use")};
}

Measured nic_node(const Host& host, const Need& need, const HostNic& nic) {
    if (nic.node < 0) {
        return host.nodes_count() > 1 ? Measured{unknown, "the firmware names none"}
                                      : Measured{ok, "there is only one"};
    }
    Measured measured{ok, fmt::format("node {}", nic.node)};
    for (const HotThread& thread : need.threads) {
        const HostCpu* cpu = host.find_cpu(thread.cpu);
        if (cpu != nullptr && std::ranges::count(thread.nics, nic.address) != 0) {
            measured.seen +=
                fmt::format("; {} on cpu {}, node {}", thread.name, cpu->index, cpu->node);
            measured.severity = cpu->node == nic.node ? measured.severity : warning;
        }
    }
    return measured;
}

/// DPDK's release notes say which driver and firmware versions match. Here they are only shown.
Measured firmware(const HostNic& nic) {
    return {unknown,
            (nic.firmware.empty() ? "not visible: no driver of the kernel holds the NIC"
                                  : "firmware " + nic.firmware) +
                (nic.driver_version.empty() ? "" : ", " + nic.driver + " " + nic.driver_version),
            advice_fix("before binding: ethtool -i INTERFACE")};
}

void judge_nic(const Host& host, const Need& need, const PortNeed& port, Findings& findings) {
    const std::string address = port.pci_address;
    const HostNic* nic = host.find_nic(address);
    const auto add = [&](Check check, Measured measured) {
        add_finding(findings, check, std::move(measured), fmt::arg("nic", address),
                    fmt::arg("port", port.name), fmt::arg("node", nic == nullptr ? -1 : nic->node),
                    fmt::arg("best_link", nic == nullptr ? "" : nic->link_best));
    };
    if (nic == nullptr) {
        add(Check::binding,
            {error, "no network device of this address", {}, Check::binding_of_absent_nic});
        return;
    }
    add(Check::binding, binding(host, *nic));
    if (nic->iommu_group) {  // the check `iommu` reports that there is none
        add(Check::iommu_group, iommu_group(*nic));
    }
    add(Check::nic_node, nic_node(host, need, *nic));
    if (!nic->link_speed.empty() && !nic->link_best.empty()) {  // virtual NICs have no PCIe link
        add(Check::pcie, {nic->link_speed == nic->link_best ? ok : warning, nic->link_speed});
    }
    add(Check::firmware, firmware(*nic));
}

}  // namespace

void judge_nics(const Host& host, const Need& need, Findings& findings) {
    std::vector<PortNeed> ports = need.ports;
    std::erase_if(ports, [](const PortNeed& port) { return port.pci_address.empty(); });
    if (std::ranges::any_of(ports, [&](const PortNeed& port) {
            const HostNic* nic = host.find_nic(port.pci_address);
            return nic == nullptr || !nic::shares_device(nic->driver);
        })) {
        add_finding(findings, Check::iommu, iommu(host));
        add_finding(findings, Check::vfio, vfio(host));
    }
    for (const PortNeed& port : ports) {
        judge_nic(host, need, port, findings);
    }
}

}  // namespace pinstrike::actors::doctor
