// path: cold
//
// The kind of port `dpdk`: its keys, rules and needs.
#include "nic/port_kind.h"

#include "nic/dpdk/dpdk_config.h"
#include "nic/dpdk/dpdk_port.h"
#include "nic/dpdk/eal.h"
#include "nic/dpdk/eal_arguments.h"
#include "nic/dpdk/host.h"
#include "nic/dpdk/vdev.h"
#include "nic/port_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pinstrike::nic {

using namespace dpdk;

namespace {

bool is_pci_address(const std::string& text) {
    // Domain, bus, device, function: "0000:3b:00.0".
    constexpr std::string_view shape = "hhhh:hh:hh.o";
    const auto fits = [](char c, char kind) {
        const bool hex = std::isxdigit(static_cast<unsigned char>(c)) != 0;
        return kind == 'h' ? hex : kind == 'o' ? c >= '0' && c <= '7' : c == kind;
    };
    return std::equal(text.begin(), text.end(), shape.begin(), shape.end(), fits);
}

/// Converted to lower case, in which the kernel and DPDK write and compare addresses.
Form<std::string> pci_form() {
    Form<std::string> form =
        text_like("a PCI address such as 0000:3b:00.0",
                  "^[0-9a-fA-F]{4}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}[.][0-7]$", is_pci_address);
    form.read = [read = form.read](const Node& node, const std::string& path, std::string& into,
                                   Reader& reader) {
        const bool good = read(node, path, into, reader);
        std::transform(into.begin(), into.end(), into.begin(),
                       [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        return good;
    };
    return or_word<std::string>("none", "", form);
}

Form<std::string> vdev_form() {
    return or_word<std::string>("none", "",
                                text_like("a DPDK device such as net_af_xdp0,iface=eth1",
                                          "^net_[^ ]+$", [](const std::string& text) {
                                              return text.size() > 4 && text.starts_with("net_") &&
                                                     text.find(' ') == std::string::npos;
                                          }));
}

void add_device_keys(Section<PortConfig>& section) {
    section
        .key("pci", own(&DpdkConfig::pci), pci_form(),
             "PCI address of the NIC. A dpdk port has either this or vdev.")
        .key("vdev", own(&DpdkConfig::vdev), vdev_form(),
             "DPDK virtual device with its arguments, instead of pci. net_af_xdp receives packets "
             "past the kernel from an interface that stays with the kernel.")
        .key("eal", own(&DpdkConfig::eal), list_of(text(), "a list of arguments"),
             "Arguments for DPDK's EAL that do not follow from the rest of the config.")
        .key("descriptors_count", own(&DpdkConfig::descriptors_count), integer(64U, 32768U),
             "Receive descriptors of each queue: how many packets the NIC may have written that "
             "were not yet read. A port has one queue for each poller that reads it, and the NIC "
             "steers each poller's lines to its queue.")
        .unit("descriptors")
        .key("hugepages", own(&DpdkConfig::hugepages), boolean(),
             "Allocate packet memory from hugepages. NICs need it; virtual devices work without.");
}

void add_membership_keys(Section<PortConfig>& section) {
    section
        .key("membership", own(&DpdkConfig::membership),
             choice<Membership>(
                 {{"igmp", Membership::igmp, "the port sends reports and answers queries itself"},
                  {"static", Membership::fixed, "the switch forwards the groups without reports"}}),
             "How the network learns which multicast groups this port needs.")
        .key("igmp_version", own(&DpdkConfig::igmp_version), integer(2U, 3U),
             "IGMP version of the reports until a query says otherwise.")
        .key("source_address", own(&DpdkConfig::source_address),
             or_word("none", Ipv4{}, ipv4_form()),
             "Source address of IGMP reports: this host's address in the feed's network. Required "
             "with membership igmp.")
        .key(
            "vlan", own(&DpdkConfig::vlan), integer<std::uint16_t>(0, 4094),
            "VLAN tag of the feed's frames at this port; 0: none. IGMP reports carry the same "
            "tag, and if several pollers read the port, the NIC matches the groups after the tag.");
}

void add_keys(Section<PortConfig>& section) {
    add_device_keys(section);
    add_membership_keys(section);
}

void check_dpdk(const PortRules& rules, std::size_t i) {
    const DpdkConfig& port = own_of(rules.ports[i]);
    const bool device = rules.sound(i, {"pci", "vdev"});
    if (device && port.pci.empty() && port.vdev.empty()) {
        rules.report(rules.path(i), "found neither pci nor vdev, expected one of them");
    }
    if (device && !port.pci.empty() && !port.vdev.empty()) {
        rules.report(rules.path(i, "vdev"), "found vdev beside pci, expected only one of them");
    }
    if (rules.sound(i, {"membership", "source_address"}) && port.membership == Membership::igmp &&
        port.source_address == Ipv4{}) {
        rules.report(
            rules.path(i, "source_address"),
            "found none, expected the source address of IGMP reports (or membership: static)");
    }
    if (!port.pci.empty() && !port.hugepages) {
        rules.report(rules.path(i, "hugepages"),
                     "found false with a PCI device, expected true: NICs write into hugepages");
    }
}

/// A device has one port, because the number of its queues follows from the pollers that read it.
/// All devices share one setting of hugepages, because DPDK's memory belongs to the process.
void check_devices(const PortRules& rules) {
    if (!rules.sound({"kind", "pci", "vdev", "hugepages"})) {
        return;
    }
    std::map<std::string, std::size_t> ports_by_device;
    std::optional<bool> hugepages;
    for (std::size_t i = 0; i < rules.ports.size(); ++i) {
        const PortConfig& port = rules.ports[i];
        const std::string device = device_name(port);
        if (port.kind != PortKind::dpdk || device.empty()) {
            continue;
        }
        const DpdkConfig& own = own_of(port);
        const auto [first, fresh] = ports_by_device.emplace(device, i);
        if (!fresh) {
            rules.report(
                rules.path(i, own.pci.empty() ? "vdev" : "pci"),
                fmt::format(
                    "found the device of ports[{}] again, expected one port for each device: let "
                    "several pollers name that port, and it has a queue for each",
                    first->second));
        }
        if (hugepages && *hugepages != own.hugepages) {
            rules.report(rules.path(i, "hugepages"),
                         fmt::format("found {} and another value in an earlier dpdk port, expected "
                                     "one for all: DPDK's memory belongs to the process",
                                     own.hugepages));
        }
        hugepages = own.hugepages;
    }
}

std::vector<std::string> captures_of(const PortConfig& port) {
    const Vdev vdev = parse_vdev(own_of(port).vdev);
    return vdev.driver == "net_pcap" ? vdev.arguments_named("rx_pcap") : std::vector<std::string>{};
}

bool reads_captures(const PortConfig& port) {
    return !captures_of(port).empty();
}

std::string source_of(const PortConfig& port) {
    return own_of(port).pci.empty() ? own_of(port).vdev : device_name(port);
}

std::string pci_address_of(const PortConfig& port) {
    return own_of(port).pci.empty() ? std::string{} : device_name(port);
}

Ipv4 report_address_of(const PortConfig& port) {
    const DpdkConfig& own = own_of(port);
    return own.membership == Membership::igmp ? own.source_address : Ipv4{};
}

std::vector<Right> rights_of(const PortConfig& port) {
    if (own_of(port).pci.empty()) {
        std::vector<Right> kept = driver_of(port).rights;
        std::erase_if(kept, [](const Right& right) { return right.purpose.empty(); });
        return kept;
    }
    if (shares_device(pci_driver(own_of(port).pci).value_or(""))) {
        return {
            {Capabilities::net_admin, "CAP_NET_ADMIN",
             "removes its addresses from the interface's list at the end"},
            {Capabilities::net_raw, "CAP_NET_RAW", "removes its rules from the device at the end"}};
    }
    return {
        {Capabilities::ipc_lock, "CAP_IPC_LOCK", "locks memory that DPDK may add for the device"}};
}

MembershipConfig membership_of(const PortConfig& config, const Device& device,
                               const GroupsByQueue& groups_by_queue) {
    const DpdkConfig& own = own_of(config);
    MembershipConfig membership;
    for (const std::vector<Group>& groups : groups_by_queue) {
        for (const Group& group : groups) {
            membership.groups.push_back(group.address);
        }
    }
    membership.host.address = own.source_address;
    membership.host.mac = device.mac();
    membership.host.vlan = own.vlan;
    membership.version = own.igmp_version;
    return membership;
}

/// Opens one Port for each queue of the device. Uses the running EAL, or starts EAL for this port
/// alone.
Ports open(const PortOpening& opening) {
    const PortConfig& config = opening.config;
    const auto queues = static_cast<unsigned>(opening.groups_by_queue.size());
    const PortDemand demand = demand_of(config, queues);
    std::shared_ptr<Eal> eal = Eal::running();
    if (eal != nullptr) {  // a running EAL cannot change its arguments and memory
        const Problems wrong = dpdk::check_devices(std::span(&demand, 1), read_port_resources());
        opening.problems.insert(opening.problems.end(), wrong.begin(), wrong.end());
        eal = wrong.empty() ? eal : nullptr;
    } else {
        eal = Eal::start({{demand}, {}, {}}, opening.problems);
    }
    if (eal == nullptr) {
        return {};
    }
    const std::shared_ptr<Device> device =
        Device::open(eal, config, opening.groups_by_queue, opening.problems);
    if (device == nullptr) {
        return {};
    }
    Ports ports;
    for (std::uint16_t queue = 0; queue < queues; ++queue) {
        QueueConfig of_queue{queue, config.burst_packets, {}, config.keeps_packets};
        if (queue == 0 && own_of(config).membership == Membership::igmp) {
            of_queue.membership = membership_of(config, *device, opening.groups_by_queue);
        }
        ports.push_back(
            std::make_unique<DpdkPort>(opening.queue_name(queue), device, std::move(of_queue)));
    }
    return ports;
}

}  // namespace

extern const PortKindRow dpdk_port;

constinit const PortKindRow dpdk_port{
    .word = "dpdk",
    .sentence = "a NIC or virtual device through DPDK",
    .live = true,
    .keeps_packets = true,
    .uses_eal = true,
    .add_keys = add_keys,
    .check = check_dpdk,
    .check_together = check_devices,
    .may_repeat_times = reads_captures,
    .source = source_of,
    .interface = kernel_interface,
    .pci_address = pci_address_of,
    .report_address = report_address_of,
    .files = captures_of,
    .system_calls = [](const PortConfig& port) { return driver_of(port).calls; },
    .rights = rights_of,
    .open = open,
};

}  // namespace pinstrike::nic
