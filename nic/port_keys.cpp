// path: cold
#include "nic/port_keys.h"

#include "nic/packet/address.h"
#include "nic/port.h"
#include "nic/port_kind.h"

#include <fmt/format.h>

#include <vector>

namespace pinstrike::nic {

namespace {

Node string_schema(const std::string& pattern) {
    return schema_type("string").add("pattern", Node::quote(pattern));
}

std::vector<Choice<PortKind>> kind_choices() {
    std::vector<Choice<PortKind>> choices;
    for (const PortKindRow* row : port_kind_rows()) {
        choices.push_back({std::string{row->word}, static_cast<PortKind>(choices.size()),
                           std::string{row->sentence}});
    }
    return choices;
}

}  // namespace

Form<Ipv4> ipv4_form() {
    return scalar_form<Ipv4>("an IPv4 address such as 192.0.2.7",
                             string_schema("^[0-9]{1,3}([.][0-9]{1,3}){3}$"), parse_ipv4,
                             [](const Ipv4& value) { return Node::plain(text_of(value)); });
}

Form<Subnet> subnet_form() {
    return scalar_form<Subnet>("a subnet such as 192.0.2.0/24, with no bits set after its prefix",
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
             "Name of the port in pollers, metrics and messages.")
        .required()
        .key("kind", &PortConfig::kind, choice(kind_choices()), "How the packets are received.")
        .required();
    for (const PortKindRow* row : port_kind_rows()) {
        if (row->add_keys != nullptr) {
            Section<PortConfig> own{section.noun()};
            row->add_keys(own);
            section.add_only_for(
                own, "kind", fmt::format("kind {}", row->word),
                [row](const PortConfig& port) { return &row_of(port.kind) == row; });
        }
    }
    section
        .key("burst_packets", &PortConfig::burst_packets,
             integer(1U, static_cast<unsigned>(burst_packets_max)),
             "Most packets received from the port in one call.")
        .unit("packets")
        .key("sources", &PortConfig::sources, list_of(subnet_form(), "a list of subnets"),
             "Subnets of allowed senders; packets of others are dropped and counted. Empty: all "
             "are allowed.")
        .reloads()
        .key(
            "udp_checksum", &PortConfig::udp_checksum,
            choice<ChecksumCheck>(
                {{"offload", ChecksumCheck::offload, "by the NIC if it can, else by software"},
                 {"software", ChecksumCheck::software, "always by software"},
                 {"off", ChecksumCheck::off, "not at all: the NIC is trusted to drop wrong ones"}}),
            "How UDP and IPv4 checksums are verified.")
        .key("streams", &PortConfig::streams,
             choice<std::string>({{"AB", "AB", "both copies of its lines"},
                                  {"A", "A", "stream A alone"},
                                  {"B", "B", "stream B alone"}}),
             "Which of the two copies of each line arrive at this port.");
    return section;
}

}  // namespace pinstrike::nic
