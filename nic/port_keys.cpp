// path: cold
#include "nic/port_keys.h"

#include "nic/packet/address.h"
#include "nic/port.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace pinstrike::nic {

namespace {

template <PortKind... kinds>
bool is_kind(const PortConfig& port) {
    return ((port.kind == kinds) || ...);
}

constexpr auto dpdk_only = is_kind<PortKind::dpdk>;
constexpr auto uring_only = is_kind<PortKind::uring>;
constexpr auto pcap_only = is_kind<PortKind::pcap>;

Node string_schema(const std::string& pattern) {
    return schema_type("string").add("pattern", Node::quote(pattern));
}

Form<Ipv4> ipv4_form() {
    return scalar_form<Ipv4>("an IPv4 address such as 192.0.2.7",
                             string_schema("^[0-9]{1,3}([.][0-9]{1,3}){3}$"), parse_ipv4,
                             [](const Ipv4& value) { return Node::plain(text_of(value)); });
}

std::optional<Pace> parse_pace(const std::string& text) {
    if (text == "max") {
        return Pace{0};
    }
    if (text == "real") {
        return Pace{1};
    }
    const auto factor = text.starts_with('x') ? parse_number(text.substr(1)) : std::nullopt;
    return factor && *factor > 0 && *factor <= 1e6 ? std::optional{Pace{*factor}} : std::nullopt;
}

Form<Pace> pace_form() {
    return scalar_form<Pace>(
        "max, real, or x and a factor such as x2.5", string_schema("^(max|real|x[0-9.]+)$"),
        parse_pace, [](const Pace& pace) {
            return Node::plain(pace.factor == 0   ? "max"
                               : pace.factor == 1 ? "real"
                                                  : fmt::format("x{}", pace.factor));
        });
}

bool is_pci_address(const std::string& text) {
    // Domain, bus, device, function: "0000:3b:00.0".
    constexpr std::string_view shape = "hhhh:hh:hh.o";
    const auto fits = [](char c, char kind) {
        const bool hex = std::isxdigit(static_cast<unsigned char>(c)) != 0;
        return kind == 'h' ? hex : kind == 'o' ? c >= '0' && c <= '7' : c == kind;
    };
    return std::equal(text.begin(), text.end(), shape.begin(), shape.end(), fits);
}

Form<std::string> pci_form() {
    return or_word<std::string>(
        "none", "",
        text_like("a PCI address such as 0000:3b:00.0",
                  "^[0-9a-fA-F]{4}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}[.][0-7]$", is_pci_address));
}

Form<std::string> vdev_form() {
    return or_word<std::string>("none", "",
                                text_like("a DPDK device such as net_af_xdp0,iface=eth1",
                                          "^net_[^ ]+$", [](const std::string& text) {
                                              return text.size() > 4 && text.starts_with("net_") &&
                                                     text.find(' ') == std::string::npos;
                                          }));
}

Form<std::string> interface_form() {
    return or_word<std::string>("none", "",
                                text_like("a network interface, at most 15 characters",
                                          "^[^ /]{1,15}$", [](const std::string& text) {
                                              return text.size() <= 15 &&
                                                     text.find_first_of(" /") == std::string::npos;
                                          }));
}

std::vector<Choice<PortKind>> kind_choices() {
    std::vector<Choice<PortKind>> choices;
    for (const PortKindRow& row : port_kinds) {
        choices.push_back({std::string{row.word}, row.kind, std::string{row.sentence}});
    }
    return choices;
}

void add_device_keys(Section<PortConfig>& section) {
    section
        .key("pci", &PortConfig::pci, pci_form(),
             "PCI address of the NIC. A dpdk port has this or vdev.")
        .only_for("kind", "kind dpdk", dpdk_only)
        .key("vdev", &PortConfig::vdev, vdev_form(),
             "DPDK virtual device with its arguments, instead of pci. net_af_xdp takes packets "
             "past the kernel from an interface that stays the kernel's.")
        .only_for("kind", "kind dpdk", dpdk_only)
        .key("eal", &PortConfig::eal, list_of(text(), "a list of arguments"),
             "Arguments for DPDK's EAL that cannot be derived from the rest of the config.")
        .only_for("kind", "kind dpdk", dpdk_only)
        .key("descriptors_count", &PortConfig::descriptors_count, integer(64U, 32768U),
             "Receive descriptors of each queue: how many packets the NIC may have written that "
             "were not yet taken. A port has one queue for each poller that reads it, and the NIC "
             "steers each poller's lines to its queue.")
        .only_for("kind", "kind dpdk", dpdk_only)
        .unit("descriptors")
        .key("hugepages", &PortConfig::hugepages, boolean(),
             "Take packet memory from hugepages. Devices of NICs need it; virtual ones can do "
             "without.")
        .only_for("kind", "kind dpdk", dpdk_only)
        .key("interface", &PortConfig::interface, interface_form(),
             "Kernel interface that joins the groups.")
        .only_for("kind", "kind uring", uring_only)
        .key("kernel_buffer", &PortConfig::kernel_buffer_bytes,
             converted<std::size_t>(bytes64(64 << 10, 1ULL << 30)),
             "Receive buffer asked of the kernel for each socket; net.core.rmem_max bounds it.")
        .only_for("kind", "kind uring", uring_only)
        .key("files", &PortConfig::files, list_of(text(), "a list of files"),
             "Captures (pcap, pcapng; compressed or not), merged by time; of a folder all in it.")
        .only_for("kind", "kind pcap", pcap_only)
        .key("pace", &PortConfig::pace, pace_form(),
             "How fast captures are replayed: max (as fast as they are taken), real, or a factor. "
             "One for all ports of captures, which are replayed together.")
        .only_for("kind", "kind pcap", pcap_only);
}

void add_membership_keys(Section<PortConfig>& section) {
    section
        .key("membership", &PortConfig::membership,
             choice<Membership>(
                 {{"igmp", Membership::igmp, "the port sends reports and answers queries itself"},
                  {"static", Membership::fixed, "the switch forwards the groups unasked"}}),
             "How the network learns which multicast groups are wanted here.")
        .only_for("kind", "kind dpdk", dpdk_only)
        .key("igmp_version", &PortConfig::igmp_version, integer(2U, 3U),
             "IGMP version of the reports until a query says otherwise.")
        .only_for("kind", "kind dpdk", dpdk_only)
        .key("source_address", &PortConfig::source_address, or_word("none", Ipv4{}, ipv4_form()),
             "Source address of IGMP reports: this host's address in the feed's network. Needed "
             "with membership igmp.")
        .only_for("kind", "kind dpdk", dpdk_only)
        .key("vlan", &PortConfig::vlan, integer<std::uint16_t>(0, 4094),
             "VLAN tag that frames of the feed carry at this port; 0: none. IGMP reports are "
             "tagged so, and where several pollers read the port, the NIC looks for the groups "
             "behind the tag.")
        .only_for("kind", "kind dpdk", dpdk_only);
}

}  // namespace

Form<Subnet> subnet_form() {
    return scalar_form<Subnet>("a subnet such as 192.0.2.0/24, no bits behind its prefix",
                               string_schema("^[0-9]{1,3}([.][0-9]{1,3}){3}(/[0-9]{1,2})?$"),
                               parse_subnet,
                               [](const Subnet& value) { return Node::plain(text_of(value)); });
}

Form<Group> group_form() {
    return scalar_form<Group>(
        "a multicast group and port such as 224.0.204.1:45001",
        string_schema("^[0-9]{1,3}([.][0-9]{1,3}){3}:[0-9]{1,5}$"),
        [](const std::string& text) {
            const auto group = parse_group(text);
            return group && is_multicast(group->address) ? group : std::nullopt;
        },
        [](const Group& group) { return Node::plain(text_of(group)); });
}

Section<PortConfig> port_section() {
    Section<PortConfig> section{"a port"};
    section
        .key("name", &PortConfig::name, name_text(),
             "Name by which pollers, metrics and messages call the port.")
        .required()
        .key("kind", &PortConfig::kind, choice(kind_choices()), "Where the packets come from.")
        .required();
    add_device_keys(section);
    section
        .key("burst_packets", &PortConfig::burst_packets,
             integer(1U, static_cast<unsigned>(burst_packets_max)),
             "Most packets taken from the port in one call.")
        .unit("packets");
    add_membership_keys(section);
    section
        .key("sources", &PortConfig::sources, list_of(subnet_form(), "a list of subnets"),
             "Subnets that may send; packets of others are dropped and counted. Empty: all may.")
        .reloads()
        .key("udp_checksum", &PortConfig::udp_checksum,
             choice<ChecksumCheck>(
                 {{"offload", ChecksumCheck::offload, "by the NIC where it can, else software"},
                  {"software", ChecksumCheck::software, "always by software"},
                  {"off", ChecksumCheck::off, "not at all: trust the NIC to have dropped it"}}),
             "How UDP and IPv4 checksums are verified.")
        .key("streams", &PortConfig::streams,
             choice<std::string>({{"AB", "AB", "both copies of its lines"},
                                  {"A", "A", "stream A alone"},
                                  {"B", "B", "stream B alone"}}),
             "Which of the two copies of each line arrive at this port.");
    return section;
}

}  // namespace pinstrike::nic
