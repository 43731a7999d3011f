// path: cold
#include "actors/peer/peer_keys.h"

#include "nic/packet/address.h"
#include "nic/port_keys.h"

namespace pinstrike::actors::peer {

namespace {

Form<std::string> file_form() {
    return text_like("the path of a file", "^.+$",
                     [](const std::string& text) { return !text.empty(); });
}

/// Accepts a unicast address, and no multicast group.
Form<nic::Group> endpoint_form() {
    return scalar_form<nic::Group>(
        "an address and port such as 192.0.2.7:9470",
        schema_type("string").add("pattern",
                                  Node::quote("^[0-9]{1,3}([.][0-9]{1,3}){3}:[0-9]{1,5}$")),
        [](const std::string& text) {
            const auto group = nic::parse_group(text);
            return group && nic::is_unicast(group->address) ? group : std::nullopt;
        },
        [](const nic::Group& group) { return Node::plain(nic::text_of(group)); });
}

Section<TlsConfig> tls_section() {
    Section<TlsConfig> section{"tls"};
    section
        .key("certificate", &TlsConfig::certificate, file_form(),
             "Certificate of this instance (PEM), with those that lead to the authority.")
        .required()
        .key("key", &TlsConfig::key, file_form(),
             "Its private key (PEM), readable by nobody but its owner.")
        .required()
        .key("authority", &TlsConfig::authority, file_form(),
             "Certificate of the authority that signed those of all peers, and of nobody else.")
        .required();
    return section;
}

}  // namespace

Section<PeerConfig> peer_section() {
    Section<PeerConfig> section{"peer"};
    section
        .key("listen", &PeerConfig::listen, or_word("none", nic::Group{}, endpoint_form()),
             "Where peers find this instance's history; without history nobody listens.")
        .key("connect", &PeerConfig::connect,
             list_of(endpoint_form(), "a list of addresses and ports"),
             "Peers that are asked for what is missing, in this order.")
        .key("allow", &PeerConfig::allow, list_of(nic::subnet_form(), "a list of subnets"),
             "Addresses that may connect, beside those of connect.")
        .key("secret_file", &PeerConfig::secret_file, file_form(),
             "File with the secret that all peers share, 32 characters or more, readable by nobody "
             "but its owner.")
        .required()
        .key("tls", &PeerConfig::tls, or_word("none", TlsConfig{}, section_form(tls_section())),
             "Encrypts connections, in both directions and on both sides alike.")
        .key("requests_per_second", &PeerConfig::requests_per_second,
             integer<std::uint32_t>(1, 1'000'000),
             "Requests answered for one connection in a second.")
        .unit("requests")
        .key("messages_per_second", &PeerConfig::messages_per_second,
             integer<std::uint32_t>(1000, 100'000'000),
             "Messages that a connection may ask for in a second.")
        .unit("messages")
        .key("connections_max", &PeerConfig::connections_max, integer<std::uint32_t>(1, 256),
             "Connections of peers that are open at once.")
        .unit("connections")
        .key("state", &PeerConfig::state, boolean(),
             "Takes the state of every series from a peer at the start, before which it is unknown "
             "until stated, and gives it to peers that ask.")
        .key("state_within", &PeerConfig::state_within_ns,
             duration_ns(1'000'000'000, 600'000'000'000),
             "How long taking it may last; what was not taken then is unknown until stated.");
    return section;
}

}  // namespace pinstrike::actors::peer
