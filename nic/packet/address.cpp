// path: cold
#include "nic/packet/address.h"

#include "config/units.h"

#include <fmt/format.h>

#include <bit>

namespace pinstrike::nic {

namespace {

/// Parses digits only: no sign, no leading zero, a value of at most `most`.
std::optional<std::uint32_t> parse_field(std::string_view text, std::int64_t most) {
    const bool odd = text.empty() || text[0] == '-' || (text.size() > 1 && text[0] == '0');
    const auto value = odd ? std::nullopt : parse_integer(text);
    return value && *value <= most ? std::optional{static_cast<std::uint32_t>(*value)}
                                   : std::nullopt;
}

std::uint32_t mask_of(std::uint32_t prefix_bits) {
    return prefix_bits == 0 ? 0 : ~0U << (32 - prefix_bits);
}

}  // namespace

std::optional<Ipv4> parse_ipv4(std::string_view text) {
    Ipv4 address;
    for (int field = 0; field < 4; ++field) {
        const std::size_t dot = text.find('.');
        const bool last = field == 3;
        if (last != (dot == std::string_view::npos)) {
            return std::nullopt;
        }
        const auto value = parse_field(text.substr(0, dot), 255);
        if (!value) {
            return std::nullopt;
        }
        address.value = address.value << 8 | *value;
        text.remove_prefix(last ? text.size() : dot + 1);
    }
    return address;
}

std::string text_of(Ipv4 address) {
    const std::uint32_t v = address.value;
    return fmt::format("{}.{}.{}.{}", v >> 24, v >> 16 & 255U, v >> 8 & 255U, v & 255U);
}

std::optional<Subnet> parse_subnet(std::string_view text) {
    const std::size_t slash = text.find('/');
    const auto address = parse_ipv4(text.substr(0, slash));
    const auto bits = slash == std::string_view::npos ? std::optional{32U}
                                                      : parse_field(text.substr(slash + 1), 32);
    if (!address || !bits || (address->value & ~mask_of(*bits)) != 0) {
        return std::nullopt;
    }
    return Subnet{*address, mask_of(*bits)};
}

std::string text_of(const Subnet& subnet) {
    return fmt::format("{}/{}", text_of(subnet.address), std::popcount(subnet.mask));
}

std::optional<Group> parse_group(std::string_view text) {
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) {
        return std::nullopt;
    }
    const auto address = parse_ipv4(text.substr(0, colon));
    const auto port = parse_field(text.substr(colon + 1), 65535);
    if (!address || !port || *port == 0) {
        return std::nullopt;
    }
    return Group{*address, static_cast<std::uint16_t>(*port)};
}

std::string text_of(const Group& group) {
    return fmt::format("{}:{}", text_of(group.address), group.port);
}

}  // namespace pinstrike::nic
