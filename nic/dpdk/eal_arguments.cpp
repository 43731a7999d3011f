// path: cold
#include "nic/dpdk/eal_arguments.h"

#include "config/memory_sizes.h"
#include "nic/dpdk/dpdk_config.h"
#include "nic/dpdk/kernel_interface.h"
#include "nic/dpdk/vdev.h"

#include <fmt/format.h>
#include <net/if.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace pinstrike::nic::dpdk {
namespace {

/// EAL arguments that are derived from the config, so the config must not contain them.
constexpr std::array<std::string_view, 14> derived_arguments{
    "-l",       "--lcores", "-c", "--main-lcore", "--no-huge",   "--in-memory",    "-m",
    "--no-pci", "--allow",  "-a", "--block",      "--no-shconf", "--no-telemetry", "--file-prefix"};

/// Kernel drivers that give DPDK a whole PCI device.
constexpr std::array<std::string_view, 3> giving_drivers{"vfio-pci", "uio_pci_generic", "igb_uio"};

void report(Problems& problems, const PortConfig& port, std::string text,
            Remedy remedy = Remedy::change) {
    add_problem(problems, "", fmt::format("port {}: {}", port.name, text), remedy);
}

void check_arguments(const PortConfig& port, Problems& problems) {
    for (const std::string& argument : own_of(port).eal) {
        const std::string_view name = std::string_view(argument).substr(0, argument.find('='));
        if (std::find(derived_arguments.begin(), derived_arguments.end(), name) !=
            derived_arguments.end()) {
            report(problems, port,
                   fmt::format("EAL argument {} follows from the config and cannot be set", name));
        }
    }
}

void check_pci(const PortConfig& port, const PortResources& resources, Problems& problems) {
    const std::string address = device_name(port);
    const std::optional<std::string> driver = pci_driver(address, resources.sys);
    if (!driver) {
        report(problems, port,
               fmt::format("found no PCI device {}: `lspci -D` lists them", address));
        return;
    }
    if (shares_device(*driver) ||
        std::ranges::find(giving_drivers, *driver) != giving_drivers.end()) {
        return;
    }
    report(problems, port,
           fmt::format("PCI device {} is {}, expected vfio-pci (or a driver that shares the "
                       "device, such as mlx5_core): driverctl set-override {} vfio-pci",
                       address, driver->empty() ? "bound to no driver" : "held by " + *driver,
                       address));
}

void check_rights(const PortConfig& port, const PortResources& resources,
                  std::span<const Right> rights, Problems& problems) {
    for (const Right& right : rights) {
        if (!resources.capabilities.has(right.capability)) {
            report(
                problems, port,
                fmt::format("{} needs the capability {}: run as root, or grant it to the service "
                            "(AmbientCapabilities={})",
                            device_name(port), right.name, right.name));
        }
    }
}

void check_memory_lock(const PortDemand& port, const PortResources& resources, Problems& problems) {
    const std::size_t need = memory_need(port).pool_bytes;
    if (!resources.capabilities.has(Capabilities::ipc_lock) && resources.memory_lock_bytes &&
        *resources.memory_lock_bytes < need) {
        report(problems, port.config,
               fmt::format("{} locks {} MiB of buffers, the limit is {} MiB: LimitMEMLOCK=infinity "
                           "(ulimit -l unlimited)",
                           device_name(port.config), need / mebibyte + 1,
                           *resources.memory_lock_bytes / mebibyte));
    }
}

void check_interface(const PortConfig& port, Problems& problems) {
    const std::string interface = kernel_interface(port);
    if (interface.empty()) {
        report(problems, port, fmt::format("{} names no interface (iface=...)", own_of(port).vdev));
    } else if (if_nametoindex(interface.c_str()) == 0) {
        report(problems, port,
               fmt::format("found no interface {}: `ip link` lists them", interface),
               Remedy::retry);  // the interface may appear later
    }
}

/// An AF_XDP socket receives one queue of its interface, but a NIC spreads frames over all its
/// queues. A config with start_queue is accepted, because its user steers the frames to that queue
/// (ethtool -N).
void check_queues(const PortDemand& port, const Vdev& vdev, Problems& problems) {
    const std::string interface = kernel_interface(port.config);
    const unsigned queues = receive_queues_of(interface);
    if (!vdev.argument("start_queue") && queues > port.queues) {
        report(problems, port.config,
               fmt::format("interface {} spreads frames over {} receive queues, the port sees {}: "
                           "ethtool -L {} combined {} (or steer the groups, and set start_queue=)",
                           interface, queues, port.queues, interface, port.queues));
    }
}

void check_captures(const PortDemand& port, const Vdev& vdev, Problems& problems) {
    const std::vector<std::string> files = vdev.arguments_named("rx_pcap");
    for (const std::string& file : files) {
        if (access(file.c_str(), R_OK) != 0) {
            report(problems, port.config, fmt::format("cannot read the capture {}", file));
        } else if (count_frames(file) == 0) {
            report(problems, port.config,
                   fmt::format("{} is not a pcap or pcapng file with frames in it", file));
        }
    }
    if (!driver_traits(port.config).kernel_interface && files.size() != port.queues) {
        report(problems, port.config,
               fmt::format("net_pcap has one queue per rx_pcap: {} given, {} queue{} expected",
                           files.size(), port.queues, port.queues == 1 ? "" : "s"));
    }
}

void check_vdev(const PortDemand& port, const PortResources& resources, Problems& problems) {
    const Vdev vdev = parse_vdev(own_of(port.config).vdev);
    if (driver_traits(port.config).kernel_interface) {
        check_interface(port.config, problems);
    }
    check_rights(port.config, resources, driver_of(port.config).rights, problems);
    if (vdev.driver == "net_pcap") {
        check_captures(port, vdev, problems);
    } else if (vdev.driver == "net_af_xdp") {
        check_memory_lock(port, resources, problems);
        check_queues(port, vdev, problems);
    }
}

}  // namespace

PortResources read_port_resources() {
    return {read_hugepages(), read_capabilities(), memory_lock_limit_bytes(), "/sys"};
}

Problems check_devices(std::span<const PortDemand> ports, const PortResources& resources) {
    Problems problems;
    for (const PortDemand& port : ports) {
        check_arguments(port.config, problems);
        if (!own_of(port.config).pci.empty()) {
            check_pci(port.config, resources, problems);
        } else {
            check_vdev(port, resources, problems);
        }
    }
    return problems;
}

Problems check_ports(std::span<const PortDemand> ports, const PortResources& resources) {
    Problems problems = check_devices(ports, resources);
    const Problems pages = check_hugepages(ports, resources.hugepages);
    problems.insert(problems.end(), pages.begin(), pages.end());
    return problems;
}

std::vector<std::string> eal_arguments(std::span<const PortDemand> ports, unsigned main_cpu) {
    // Lcore 0 is mapped to this CPU, because lcore ids are limited to 128 and CPU numbers are not.
    std::vector<std::string> arguments{"pinstrike", fmt::format("--lcores=0@{}", main_cpu),
                                       "--no-telemetry", "--file-prefix=pinstrike"};
    const std::size_t need_mebibytes = memory_need_bytes(ports) / mebibyte + 1;
    if (uses_hugepages(ports)) {
        arguments.emplace_back("--in-memory");  // leaves no files in hugetlbfs, even after a crash
    } else {
        arguments.insert(arguments.end(),
                         {"--no-huge", "--no-shconf", "-m", std::to_string(need_mebibytes)});
    }
    bool pci = false;
    for (const PortDemand& port : ports) {
        if (const std::string& address = own_of(port.config).pci; !address.empty()) {
            pci = true;
            arguments.insert(arguments.end(), {"-a", address});
        }
    }
    if (!pci) {
        arguments.insert(arguments.end(), {"--no-pci", "--iova-mode=va"});
    }
    for (const PortDemand& port : ports) {
        const std::vector<std::string>& own = own_of(port.config).eal;
        arguments.insert(arguments.end(), own.begin(), own.end());
    }
    return arguments;
}

}  // namespace pinstrike::nic::dpdk
