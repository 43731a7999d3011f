// path: cold
#include "actors/host/doctor/read_files.h"
#include "actors/host/doctor/read_host.h"
#include "config/joined.h"

#include <net/if.h>

#include <cstdlib>
#include <sstream>

namespace pinstrike::actors::doctor {
namespace {

namespace fs = std::filesystem;

constexpr unsigned long class_network = 0x02;
constexpr unsigned long class_bridge = 0x06;

/// The base class of a PCI device: the highest of the three bytes in "0x020000".
unsigned long base_class(const fs::path& device) {
    const std::string text = read_word(device / "class").value_or("0");
    return std::strtoul(text.c_str(), nullptr, 16) >> 16;
}

/// The kernel interface of a device. With virtio, another device lies in between.
std::string interface_of(const fs::path& device) {
    if (const auto names = names_in(device / "net"); !names.empty()) {
        return names.front();
    }
    for (const std::string& name : names_in(device)) {
        if (name.starts_with("virtio")) {
            const auto inner = names_in(device / name / "net");
            return inner.empty() ? "" : inner.front();
        }
    }
    return {};
}

std::string link_text(const fs::path& device, const std::string& which) {
    const auto speed = read_word(device / (which + "_link_speed"));
    const auto width = read_word(device / (which + "_link_width"));
    // Devices without a PCIe link report "Unknown", or a width of 0 or 255.
    const bool known =
        speed && width && !speed->starts_with("Unknown") && *width != "0" && *width != "255";
    return known ? *speed + " x" + *width : "";
}

void read_group(const fs::path& device, HostNic& nic) {
    const fs::path group = device / "iommu_group";
    if (const auto number = number_behind(link_name(group), "")) {
        nic.iommu_group = static_cast<unsigned>(*number);
    }
    for (const std::string& address : names_in(group / "devices")) {
        const fs::path member = group / "devices" / address;
        if (address != nic.address) {
            nic.group_members.push_back({.address = address,
                                         .driver = link_name(member / "driver"),
                                         .bridge = base_class(member) == class_bridge});
        }
    }
}

HostNic read_nic(const fs::path& device, const std::string& address) {
    HostNic nic;
    nic.address = address;
    nic.driver = link_name(device / "driver");
    nic.driver_version = read_word(device / "driver/module/version").value_or("");
    nic.interface = interface_of(device);
    nic.node = static_cast<int>(read_number(device / "numa_node").value_or(-1));
    nic.link_speed = link_text(device, "current");
    nic.link_best = link_text(device, "max");
    read_group(device, nic);
    return nic;
}

/// Marks an interface and those below it: the members of a bond or bridge, the parent of a VLAN.
void mark_carriers(const fs::path& folder, const std::string& name, Host& host) {
    const auto known = host.interfaces.find(name);
    if (known == host.interfaces.end() || known->second.other_default_route) {
        return;
    }
    known->second.other_default_route = true;
    constexpr std::string_view prefix = "lower_";
    for (const std::string& entry : names_in(folder / name)) {
        if (entry.starts_with(prefix)) {
            mark_carriers(folder, entry.substr(prefix.size()), host);
        }
    }
}

/// The interfaces of rows such as "<destination> 00 ... <interface>", whose destination is ::/0.
std::vector<std::string> interfaces_of_ipv6_default_routes(const fs::path& root) {
    std::vector<std::string> interfaces;
    std::istringstream in(read_word(root / "proc/net/ipv6_route").value_or(""));
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with(std::string(32, '0') + " 00 ")) {
            interfaces.push_back(line.substr(line.find_last_of(' ') + 1));
        }
    }
    return interfaces;
}

void read_default_routes(const fs::path& root, Host& host) {
    const fs::path folder = root / "sys/class/net";
    for (const std::string& interface : interfaces_of_ipv6_default_routes(root)) {
        mark_carriers(folder, interface, host);
    }
    std::istringstream in(read_word(root / "proc/net/route").value_or(""));
    std::string line;
    std::getline(in, line);  // the table's head
    while (std::getline(in, line)) {
        std::istringstream row(line);
        std::string interface;
        std::string destination;
        row >> interface >> destination;
        const auto known = host.interfaces.find(interface);
        if (destination == "00000000" && known != host.interfaces.end()) {
            known->second.default_route = true;
            mark_carriers(folder, interface, host);
        }
    }
}

/// The name that a driver gave its interrupt, which is the name of a folder.
std::string name_of_interrupt(const fs::path& folder) {
    std::vector<std::string> names = names_in(folder);
    std::error_code error;
    std::erase_if(names, [&](const auto& name) { return !fs::is_directory(folder / name, error); });
    return joined(names);
}

}  // namespace

void read_nics(const fs::path& root, Host& host) {
    const fs::path devices = root / "sys/bus/pci/devices";
    for (const std::string& address : names_in(devices)) {
        if (base_class(devices / address) == class_network) {
            host.nics.push_back(read_nic(devices / address, address));
        }
    }
    host.iommu_groups = names_in(root / "sys/kernel/iommu_groups").size();
    std::error_code error;
    host.vfio_pci = fs::exists(root / "sys/bus/pci/drivers/vfio-pci", error);
    host.vfio_without_iommu =
        read_word(root / "sys/module/vfio/parameters/enable_unsafe_noiommu_mode") == "Y";
}

void read_interfaces(const fs::path& root, Host& host) {
    const fs::path folder = root / "sys/class/net";
    for (const std::string& name : names_in(folder)) {
        const auto text = read_word(folder / name / "flags");
        if (!text) {  // bonding_masters and other files
            continue;
        }
        const unsigned long flags = std::strtoul(text->c_str(), nullptr, 16);
        HostInterface& interface = host.interfaces[name];
        interface.up = (flags & IFF_UP) != 0;
        interface.multicast = (flags & IFF_MULTICAST) != 0;
        interface.running = read_number(folder / name / "carrier") == 1;
        const fs::path conf = root / "proc/sys/net/ipv4/conf";
        const auto all = read_number(conf / "all/rp_filter");
        const auto own = read_number(conf / name / "rp_filter");
        if (all && own) {  // the kernel applies the larger, stricter value
            interface.reverse_path_filter = static_cast<int>(std::max(*all, *own));
        }
    }
    read_default_routes(root, host);
}

void read_interrupts(const fs::path& root, Host& host) {
    const fs::path folder = root / "proc/irq";
    for (const std::string& name : names_in(folder)) {
        const auto number = number_behind(name, "");
        if (!number) {
            continue;
        }
        // The current destination, or on kernels that do not report it, the allowed ones.
        auto cpus = read_cpus(folder / name / "effective_affinity_list");
        if (!cpus || cpus->empty()) {
            cpus = read_cpus(folder / name / "smp_affinity_list");
        }
        const std::string action = name_of_interrupt(folder / name);
        if (cpus && !action.empty()) {  // an interrupt without a name is unused
            host.interrupts.push_back({static_cast<unsigned>(*number), action, *cpus});
        }
    }
}

}  // namespace pinstrike::actors::doctor
