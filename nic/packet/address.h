// path: cold
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pinstrike::nic {

/// An IPv4 address in host order.
struct Ipv4 {
    std::uint32_t value = 0;
    friend auto operator<=>(const Ipv4&, const Ipv4&) = default;
};

struct Subnet {
    Ipv4 address;
    std::uint32_t mask = 0;

    [[nodiscard]] bool contains(std::uint32_t ip) const { return (ip & mask) == address.value; }

    friend bool operator==(const Subnet&, const Subnet&) = default;
};

/// The destination of multicast data: group address and UDP port.
struct Group {
    Ipv4 address;
    std::uint16_t port = 0;
    friend auto operator<=>(const Group&, const Group&) = default;
};

/// Parses "224.0.204.1"; refuses leading zeros.
std::optional<Ipv4> parse_ipv4(std::string_view text);
std::string text_of(Ipv4 address);

/// Parses "162.69.44.0/24"; the bits after the prefix must be 0. An address without a prefix length
/// is a subnet of one host.
std::optional<Subnet> parse_subnet(std::string_view text);
std::string text_of(const Subnet& subnet);

/// Parses "224.0.204.1:45001": any address, any port except 0.
std::optional<Group> parse_group(std::string_view text);
std::string text_of(const Group& group);

/// True below 224.0.0.0, where multicast and reserved addresses begin.
constexpr bool is_unicast(Ipv4 address) {
    return (address.value >> 28) < 0xE;
}

/// True in 224.0.0.0/4.
constexpr bool is_multicast(Ipv4 address) {
    return (address.value >> 28) == 0xE;
}

}  // namespace pinstrike::nic
