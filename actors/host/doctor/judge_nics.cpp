// path: cold
#include "actors/host/doctor/fixes.h"
#include "actors/host/doctor/judge.h"
#include "nic/dpdk/vdev.h"
#include "nic/port_needs.h"

#include <fmt/format.h>

#include <algorithm>

namespace pinstrike::actors::doctor {
namespace {

/// Drivers that pass a whole device to a user program.
bool gives_away(const std::string& driver) {
    return driver == "vfio-pci" || driver == "uio_pci_generic" || driver == "igb_uio";
}

bool is_pci(const PortNeed& port) {
    return !port.config.pci.empty();
}

void judge_iommu(const Host& host, Findings& findings) {
    Finding finding{.id = "iommu",
                    .severity = Severity::ok,
                    .what = "IOMMU",
                    .seen = fmt::format("on, {} groups", host.iommu_groups),
                    .wanted = "on",
                    .why =
                        "vfio-pci gives a NIC to a program only through it; without it the NIC "
                        "could write to any memory",
                    .fix = {}};
    if (host.iommu_groups == 0) {
        finding.severity = host.vfio_without_iommu ? Severity::warning : Severity::error;
        finding.seen = host.vfio_without_iommu
                           ? "off; vfio is told to do without (enable_unsafe_noiommu_mode)"
                           : "off: no groups in /sys/kernel/iommu_groups";
        finding.fix =
            boot_fix("iommu", host.cpu_vendor == "AuthenticAMD" ? "amd_iommu=on iommu=pt"
                                                                : "intel_iommu=on iommu=pt");
        finding.fix.advice = host.hypervisor
                                 ? "the hypervisor must give the machine an IOMMU as well"
                                 : "enable VT-d or AMD-Vi in the firmware's settings as well";
    }
    findings.push_back(std::move(finding));
}

void judge_vfio(const Host& host, Findings& findings) {
    Finding finding{.id = "vfio",
                    .severity = Severity::ok,
                    .what = "driver vfio-pci",
                    .seen = "there",
                    .wanted = "loaded at every boot",
                    .why = "through it a NIC leaves the kernel and comes to the program",
                    .fix = {}};
    if (!host.vfio_pci) {
        finding.severity = Severity::error;
        finding.seen = "not loaded";
        finding.fix.command = "modprobe vfio-pci";
        finding.fix.now = {"modprobe vfio-pci"};
        finding.fix.lasting = {"keep /etc/modules-load.d/pinstrike-vfio.conf vfio-pci"};
    }
    findings.push_back(std::move(finding));
}

/// The script does not unbind a NIC that carries the host's default route.
Fix binding_fix(const Host& host, const HostNic& nic) {
    Fix fix;
    fix.command = fmt::format("driverctl set-override {} vfio-pci", nic.address);
    const auto interface = host.interfaces.find(nic.interface);
    if (interface != host.interfaces.end() && interface->second.default_route) {
        fix.advice = fmt::format(
            "{} carries the default route of this host: give the feed another NIC, or move the "
            "route first. The script leaves it alone",
            nic.interface);
        return fix;
    }
    fix.lasting = {fix.command};  // driverctl applies the override at once and at each boot
    return fix;
}

void judge_binding(const Host& host, const PortNeed& port, const HostNic& nic, Findings& findings) {
    Finding finding{.id = "binding." + nic.address,
                    .severity = Severity::ok,
                    .what = fmt::format("binding of {} ({})", port.name, nic.address),
                    .seen = nic.driver.empty() ? "bound to no driver" : nic.driver,
                    .wanted = "vfio-pci, or a driver that shares the device (mlx5_core)",
                    .why = "while the kernel's driver holds the NIC, DPDK cannot open it",
                    .fix = {}};
    if (!nic.interface.empty()) {
        finding.seen += ", interface " + nic.interface;
    }
    if (!gives_away(nic.driver) && !nic::shares_device(nic.driver)) {
        finding.severity = Severity::error;
        finding.fix = binding_fix(host, nic);
    } else if (gives_away(nic.driver) && nic.driver != "vfio-pci") {
        finding.severity = Severity::warning;
        finding.why =
            "with uio the NIC can write to any memory, and the program needs root's rights";
        finding.fix = binding_fix(host, nic);
    }
    findings.push_back(std::move(finding));
}

void judge_group(const PortNeed& port, const HostNic& nic, Findings& findings) {
    if (!nic.iommu_group) {
        return;  // the finding about the IOMMU reports it
    }
    Finding finding{.id = "iommu_group." + nic.address,
                    .severity = Severity::ok,
                    .what = fmt::format("IOMMU group of {} ({})", port.name, nic.address),
                    .seen = fmt::format("group {}, alone", *nic.iommu_group),
                    .wanted = "alone, or with devices on vfio-pci or without driver",
                    .why =
                        "a group goes to one program as a whole: while the kernel holds another "
                        "device of it, vfio refuses the NIC",
                    .fix = {}};
    std::string others;
    for (const GroupMember& member : nic.group_members) {
        if (!member.bridge && !member.driver.empty() && member.driver != "vfio-pci" &&
            member.driver != "pci-stub") {
            others +=
                fmt::format("{}{} ({})", others.empty() ? "" : ", ", member.address, member.driver);
        }
    }
    if (!others.empty()) {
        finding.severity = Severity::error;
        finding.seen = fmt::format("group {}, with {}", *nic.iommu_group, others);
        finding.fix = advice_fix(
            "bind those too (driverctl set-override ADDRESS vfio-pci), or put the NIC into a slot "
            "whose port has ACS");
    } else if (!nic.group_members.empty()) {
        finding.seen = fmt::format("group {}, nobody else's in use", *nic.iommu_group);
    }
    findings.push_back(std::move(finding));
}

/// DPDK's release notes say which driver and firmware versions match. Here they are only shown.
void judge_firmware(const PortNeed& port, const HostNic& nic, Findings& findings) {
    std::string seen = nic.firmware.empty() ? "not visible: no driver of the kernel holds the NIC"
                                            : "firmware " + nic.firmware;
    if (!nic.driver_version.empty()) {
        seen += fmt::format(", {} {}", nic.driver, nic.driver_version);
    }
    findings.push_back({.id = "firmware." + nic.address,
                        .severity = Severity::unknown,
                        .what = fmt::format("firmware of {} ({})", port.name, nic.address),
                        .seen = std::move(seen),
                        .wanted = "what DPDK's page of the NIC's driver names",
                        .why = "steering by group and checksum verdicts need a firmware that has "
                               "them; no table here knows which",
                        .fix = advice_fix("before binding: ethtool -i INTERFACE")});
}

void judge_link(const PortNeed& port, const HostNic& nic, Findings& findings) {
    if (nic.link_speed.empty() || nic.link_best.empty()) {
        return;  // virtual NICs have no PCIe link
    }
    const bool best = nic.link_speed == nic.link_best;
    findings.push_back({.id = "pcie." + nic.address,
                        .severity = best ? Severity::ok : Severity::warning,
                        .what = fmt::format("PCIe link of {} ({})", port.name, nic.address),
                        .seen = nic.link_speed,
                        .wanted = nic.link_best,
                        .why = "a slower or narrower link than the NIC has fills up in bursts, "
                               "and the NIC drops (missed)",
                        .fix = best ? Fix{}
                                    : advice_fix("a slot with as many lanes; seat the "
                                                 "card again")});
}

void judge_node(const Host& host, const Need& need, const PortNeed& port, const HostNic& nic,
                Findings& findings) {
    Finding finding{.id = "nic_node." + nic.address,
                    .severity = Severity::ok,
                    .what = fmt::format("NUMA node of {} ({})", port.name, nic.address),
                    .seen = fmt::format("node {}", nic.node),
                    .wanted = "that of the processors which poll it",
                    .why =
                        "across sockets each packet costs a trip of 100 ns and more, and the link "
                        "between them is shared",
                    .fix = {}};
    if (nic.node < 0) {
        finding.severity = host.nodes_count() > 1 ? Severity::unknown : Severity::ok;
        finding.seen = host.nodes_count() > 1 ? "the firmware names none" : "there is only one";
        findings.push_back(std::move(finding));
        return;
    }
    for (const HotThread& thread : need.threads) {
        const HostCpu* cpu = host.find_cpu(thread.cpu);
        const bool polls =
            std::find(thread.nics.begin(), thread.nics.end(), nic.address) != thread.nics.end();
        if (!polls || cpu == nullptr) {
            continue;
        }
        finding.seen += fmt::format("; {} on cpu {}, node {}", thread.name, cpu->index, cpu->node);
        if (cpu->node != nic.node) {
            finding.severity = Severity::warning;
            finding.fix = advice_fix(fmt::format(
                "in the config, pollers and cores on processors of node {} (pinstrike plan)",
                nic.node));
        }
    }
    findings.push_back(std::move(finding));
}

void judge_nic(const Host& host, const Need& need, const PortNeed& port, Findings& findings) {
    const std::string address = nic::dpdk::device_name(port.config);
    const HostNic* nic = host.find_nic(address);
    if (nic == nullptr) {
        findings.push_back(
            {.id = "binding." + address,
             .severity = Severity::error,
             .what = fmt::format("NIC of {} ({})", port.name, address),
             .seen = "no network device of this address",
             .wanted = "one",
             .why = "the port cannot be opened",
             .fix = advice_fix("`lspci -D` lists those there are; write the address into `pci`")});
        return;
    }
    judge_binding(host, port, *nic, findings);
    judge_group(port, *nic, findings);
    judge_node(host, need, port, *nic, findings);
    judge_link(port, *nic, findings);
    judge_firmware(port, *nic, findings);
}

}  // namespace

void judge_nics(const Host& host, const Need& need, Findings& findings) {
    const auto needs_vfio = [&](const PortNeed& port) {
        const HostNic* nic = host.find_nic(nic::dpdk::device_name(port.config));
        return is_pci(port) && (nic == nullptr || !nic::shares_device(nic->driver));
    };
    if (std::any_of(need.ports.begin(), need.ports.end(), needs_vfio)) {
        judge_iommu(host, findings);
        judge_vfio(host, findings);
    }
    for (const PortNeed& port : need.ports) {
        if (is_pci(port)) {
            judge_nic(host, need, port, findings);
        }
    }
}

}  // namespace pinstrike::actors::doctor
