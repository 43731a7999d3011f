// path: cold
#include "actors/peer/peer_keys.h"

#include "nic/packet/address.h"
#include "nic/port_keys.h"

namespace pinstrike::actors::peer {

Form<std::string> file_form() {
    return text_like("the path of a file", "^.+$",
                     [](const std::string& text) { return !text.empty(); });
}

namespace {

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

}  // namespace

Section<TlsConfig> tls_section() {
    Section<TlsConfig> section{"tls"};
    section
        .key("certificate", &TlsConfig::certificate, file_form(),
             "Certificate of this instance (PEM), with its chain up to the authority.")
        .required()
        .key("key", &TlsConfig::key, file_form(),
             "Its private key (PEM), readable by its owner alone.")
        .required()
        .key("authority", &TlsConfig::authority, file_form(),
             "Certificate of the authority that signed the certificates of all peers, and no "
             "others.")
        .required();
    return section;
}

Section<PeerConfig> peer_section() {
    Section<PeerConfig> section{"peer"};
    section
        .key("listen", &PeerConfig::listen, or_word("none", nic::Group{}, endpoint_form()),
             "Where peers reach this instance's history; without history it does not listen.")
        .key("connect", &PeerConfig::connect,
             list_of(endpoint_form(), "a list of addresses and ports"),
             "Peers that are asked for missing messages, in this order.")
        .key("allow", &PeerConfig::allow, list_of(nic::subnet_form(), "a list of subnets"),
             "Addresses that may connect, besides those of connect.")
        .key("secret_file", &PeerConfig::secret_file, file_form(),
             "File with the secret that all peers share, 32 characters or more, readable by its "
             "owner alone.")
        .required()
        .key("tls", &PeerConfig::tls, or_word("none", TlsConfig{}, section_form(tls_section())),
             "Encrypts connections in both directions; all peers have it or none.")
        .key("requests_per_second", &PeerConfig::requests_per_second,
             integer<std::uint32_t>(1, 1'000'000),
             "Requests answered for one connection in a second.")
        .unit("requests")
        .key("messages_per_second", &PeerConfig::messages_per_second,
             integer<std::uint32_t>(1000, 100'000'000),
             "Messages that a connection may request in a second.")
        .unit("messages")
        .key("connections_max", &PeerConfig::connections_max, integer<std::uint32_t>(1, 256),
             "Most connections of peers open at once.")
        .unit("connections")
        .key("state", &PeerConfig::state, boolean(),
             "Receives the state of every series from a peer at the start; without it a series is "
             "unknown until its first message. Also sends the state to peers that request it.")
        .key("state_within", &PeerConfig::state_within_ns,
             duration_ns(1'000'000'000, 600'000'000'000),
             "Limit for receiving the state; series not received by then are unknown until their "
             "first message.");
    return section;
}

}  // namespace pinstrike::actors::peer
