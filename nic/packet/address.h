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

/// Where multicast data comes: destination group and UDP port.
struct Group {
    Ipv4 address;
    std::uint16_t port = 0;
    friend auto operator<=>(const Group&, const Group&) = default;
};

/// "224.0.204.1", without leading zeros.
std::optional<Ipv4> parse_ipv4(std::string_view text);
std::string text_of(Ipv4 address);

/// "162.69.44.0/24"; the bits behind the prefix must be 0. A bare address is a subnet of one.
std::optional<Subnet> parse_subnet(std::string_view text);
std::string text_of(const Subnet& subnet);

/// "224.0.204.1:45001": any address, any port but 0.
std::optional<Group> parse_group(std::string_view text);
std::string text_of(const Group& group);

/// Of one host: below 224.0.0.0, where groups and reserved addresses begin.
constexpr bool is_unicast(Ipv4 address) {
    return (address.value >> 28) < 0xE;
}

/// 224.0.0.0/4.
constexpr bool is_multicast(Ipv4 address) {
    return (address.value >> 28) == 0xE;
}

}  // namespace pinstrike::nic
