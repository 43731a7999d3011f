// path: cold
//
// The rules between the values of ports, checked on the structs alone.
#include "nic/dpdk/vdev.h"
#include "nic/port_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>

namespace pinstrike::nic {

namespace {

struct Rules {
    std::span<const PortConfig> ports;
    const Places& places;
    Problems& problems;

    [[nodiscard]] std::string path(std::size_t i, const char* key = nullptr) const {
        return key == nullptr ? fmt::format("ports[{}]", i) : fmt::format("ports[{}].{}", i, key);
    }

    /// True if the values of these keys of ports[i] were parsed without a problem.
    [[nodiscard]] bool sound(std::size_t i, std::initializer_list<const char*> keys) const {
        return std::all_of(keys.begin(), keys.end(),
                           [&](const char* key) { return places.sound(path(i, key)); });
    }

    [[nodiscard]] bool sound(std::initializer_list<const char*> keys) const {
        bool all = places.reached("ports");
        for (std::size_t i = 0; i < ports.size(); ++i) {
            all = all && sound(i, keys);
        }
        return all;
    }

    void report(const std::string& path, const std::string& text) const {
        tell(problems, places.at(path), path + ": " + text);
    }
};

void check_dpdk(const Rules& rules, std::size_t i) {
    const PortConfig& port = rules.ports[i];
    const bool device = rules.sound(i, {"pci", "vdev"});
    if (device && port.pci.empty() && port.vdev.empty()) {
        rules.report(rules.path(i), "found neither pci nor vdev, expected one of them");
    }
    if (device && !port.pci.empty() && !port.vdev.empty()) {
        rules.report(rules.path(i, "vdev"), "found vdev beside pci, expected only one of them");
    }
    if (rules.sound(i, {"membership", "source_address"}) && port.membership == Membership::igmp &&
        port.source_address == Ipv4{}) {
        rules.report(rules.path(i, "source_address"),
                     "found none, expected the address that IGMP reports come from "
                     "(or membership: static)");
    }
    if (!port.pci.empty() && !port.hugepages) {
        rules.report(rules.path(i, "hugepages"),
                     "found false with a PCI device, expected true: NICs write into hugepages");
    }
}

void check_one(const Rules& rules, std::size_t i) {
    const PortConfig& port = rules.ports[i];
    if (port.kind == PortKind::dpdk) {
        check_dpdk(rules, i);
    }
    if (port.kind == PortKind::uring && port.interface.empty() && rules.sound(i, {"interface"})) {
        rules.report(rules.path(i, "interface"), "found none, expected the kernel interface");
    }
    if (port.kind == PortKind::pcap && port.files.empty() && rules.sound(i, {"files"})) {
        rules.report(rules.path(i, "files"), "found none, expected at least one capture");
    }
}

void check_names(const Rules& rules) {
    for (std::size_t i = 0; i < rules.ports.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            if (rules.ports[i].name == rules.ports[j].name) {
                rules.report(
                    rules.path(i, "name"),
                    fmt::format("found \"{}\" again, expected a name of its own: ports[{}] "
                                "has it",
                                rules.ports[i].name, j));
                break;
            }
        }
    }
}

/// A device has one port, because the number of its queues follows from the pollers that read it.
/// All devices share one setting of hugepages, because DPDK's memory belongs to the process.
void check_devices(const Rules& rules) {
    std::map<std::string, std::size_t> ports_by_device;
    std::optional<bool> hugepages;
    for (std::size_t i = 0; i < rules.ports.size(); ++i) {
        const PortConfig& port = rules.ports[i];
        const std::string device = dpdk::device_name(port);
        if (port.kind != PortKind::dpdk || device.empty()) {
            continue;
        }
        const auto [first, fresh] = ports_by_device.emplace(device, i);
        if (!fresh) {
            rules.report(rules.path(i, port.pci.empty() ? "vdev" : "pci"),
                         fmt::format("found the device of ports[{}] again, expected one port a "
                                     "device: let several pollers name that port, and it has a "
                                     "queue for each",
                                     first->second));
        }
        if (hugepages && *hugepages != port.hugepages) {
            rules.report(rules.path(i, "hugepages"),
                         fmt::format("found {} and another value in a dpdk port before, expected "
                                     "one for all: DPDK's memory is the process's",
                                     port.hugepages));
        }
        hugepages = port.hugepages;
    }
}

/// Captures of several ports are merged by time as well, so they need the same pace.
void check_pace(const Rules& rules) {
    const PortConfig* first = nullptr;
    for (std::size_t i = 0; i < rules.ports.size(); ++i) {
        const PortConfig& port = rules.ports[i];
        if (port.kind != PortKind::pcap) {
            continue;
        }
        first = first == nullptr ? &port : first;
        if (port.pace.factor != first->pace.factor) {
            rules.report(rules.path(i, "pace"),
                         fmt::format("found another pace than that of port {}, expected one for "
                                     "all: captures are replayed together",
                                     first->name));
        }
    }
}

}  // namespace

void check_ports(std::span<const PortConfig> ports, const Places& places, Problems& problems) {
    const Rules rules{ports, places, problems};
    for (std::size_t i = 0; i < ports.size(); ++i) {
        if (rules.sound(i, {"kind"})) {
            check_one(rules, i);
        }
    }
    if (rules.sound({"name"})) {
        check_names(rules);
    }
    if (rules.sound({"kind", "pace"})) {
        check_pace(rules);
    }
    if (rules.sound({"kind", "pci", "vdev", "hugepages"})) {
        check_devices(rules);
    }
}

bool may_repeat_times(const PortConfig& port) {
    if (port.kind != PortKind::dpdk) {
        return port.kind == PortKind::pcap || port.kind == PortKind::sim;
    }
    const dpdk::Vdev vdev = dpdk::parse_vdev(port.vdev);
    return vdev.driver == "net_pcap" && vdev.argument("rx_pcap");
}

}  // namespace pinstrike::nic
