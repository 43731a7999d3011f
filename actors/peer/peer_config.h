// path: cold
#pragma once

#include "nic/packet/address.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pinstrike::actors::peer {

/// Files of PEM text; all empty: connections are not encrypted.
struct TlsConfig {
    std::string certificate;  ///< of this instance, and those that lead from it to the authority
    std::string key;
    std::string authority;  ///< whoever signed the certificates of all peers

    friend bool operator==(const TlsConfig&, const TlsConfig&) = default;
};

struct PeerConfig {
    nic::Group listen{{0x7F00'0001}, 9470};  ///< port 0: nobody listens
    std::vector<nic::Group> connect;
    std::vector<nic::Subnet> allow;  ///< may connect, beside the addresses of `connect`
    std::string secret_file;         ///< empty: no peers
    TlsConfig tls;
    std::uint32_t requests_per_second = 500;
    std::uint32_t messages_per_second = 200'000;
    std::uint32_t connections_max = 8;
    bool state = false;  ///< give the state of series to peers, and take it from one at the start
    std::int64_t state_within_ns = 30'000'000'000;

    [[nodiscard]] bool present() const { return !secret_file.empty(); }

    friend bool operator==(const PeerConfig&, const PeerConfig&) = default;
};

}  // namespace pinstrike::actors::peer
