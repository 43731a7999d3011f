// path: cold
#include "feed/opra/lines.h"

namespace pinstrike::feed::opra {

namespace {

constexpr nic::Ipv4 address(unsigned a, unsigned b, unsigned c, unsigned d) {
    return {a << 24 | b << 16 | c << 8 | d};
}

constexpr nic::Group group(unsigned third, unsigned last, unsigned port) {
    return {address(224, 0, third, last), static_cast<std::uint16_t>(port)};
}

LineConfig regular(unsigned n) {
    return {.number = static_cast<std::uint16_t>(n),
            .streams = {group(204, n, 45000 + n), group(206, n, 45000 + n)},
            .retransmission = {group(204, 127 + n, 46000 + n), group(206, 127 + n, 46000 + n)}};
}

LineConfig series_maps(unsigned n) {
    const unsigned port = 45105 + (n - 220);
    const unsigned retransmission_port = 46232 + (n - 220);
    return {.number = static_cast<std::uint16_t>(n),
            .streams = {group(204, n - 115, port), group(206, n - 115, port)},
            .retransmission = {group(204, n + 12, retransmission_port),
                               group(206, n + 12, retransmission_port)}};
}

LineConfig gth(unsigned n) {
    const unsigned g = n - 200;
    return {.number = static_cast<std::uint16_t>(n),
            .streams = {group(200, g, 48000 + g), group(200, 127 + g, 48000 + g)},
            .retransmission = {group(200, 15 + g, 49000 + g), group(200, 143 + g, 49000 + g)}};
}

/// The quarter (0-3) to which a line belongs. It determines the third octet of the addresses of the
/// line's senders.
unsigned quarter_of(unsigned n) {
    if (is_gth_line(n)) {
        return n - 201;
    }
    return n >= 220 ? 3 : (n - 1) / 24;
}

}  // namespace

std::vector<std::uint16_t> published_lines() {
    std::vector<std::uint16_t> numbers;
    for (std::uint16_t n = 1; n <= 225; ++n) {
        if (is_published_line(n)) {
            numbers.push_back(n);
        }
    }
    return numbers;
}

std::optional<LineConfig> published_line(std::uint16_t number) {
    if (!is_published_line(number)) {
        return std::nullopt;
    }
    return is_gth_line(number) ? gth(number)
           : number >= 220     ? series_maps(number)
                               : regular(number);
}

std::vector<LineConfig> published_lines(std::span<const std::uint16_t> numbers) {
    std::vector<LineConfig> lines;
    for (const std::uint16_t number : numbers) {
        if (const auto line = published_line(number)) {
            lines.push_back(*line);
        }
    }
    return lines;
}

std::optional<std::array<nic::Subnet, 2>> published_sources(std::uint16_t number, Stream stream) {
    if (!is_published_line(number)) {
        return std::nullopt;
    }
    const unsigned third = (stream == Stream::a ? 44 : 52) + quarter_of(number);
    constexpr std::uint32_t mask = 0xFFFF'FF00;
    return std::array{nic::Subnet{address(162, 69, third, 0), mask},
                      nic::Subnet{address(162, 68, third, 0), mask}};
}

}  // namespace pinstrike::feed::opra
