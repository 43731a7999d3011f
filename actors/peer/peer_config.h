// path: cold
#pragma once

#include "nic/packet/address.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pinstrike::actors::peer {

/// Paths of PEM files. If all are empty, connections are not encrypted.
struct TlsConfig {
    std::string certificate;  ///< chain from this instance's certificate up to the authority's
    std::string key;
    std::string authority;  ///< certificate of the authority that signed all peers' certificates

    friend bool operator==(const TlsConfig&, const TlsConfig&) = default;
};

struct PeerConfig {
    nic::Group listen{{0x7F00'0001}, 9470};  ///< port 0: no server
    std::vector<nic::Group> connect;
    std::vector<nic::Subnet> allow;  ///< may also connect, like the addresses of `connect`
    std::string secret_file;         ///< empty: no peers
    TlsConfig tls;
    std::uint32_t requests_per_second = 500;
    std::uint32_t messages_per_second = 200'000;
    std::uint32_t connections_max = 8;
    bool state = false;  ///< send the state of series to peers, and request it at the start
    std::int64_t state_within_ns = 30'000'000'000;

    [[nodiscard]] bool present() const { return !secret_file.empty(); }

    friend bool operator==(const PeerConfig&, const PeerConfig&) = default;
};

}  // namespace pinstrike::actors::peer
