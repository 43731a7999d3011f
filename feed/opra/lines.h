// path: cold
//
// The lines that OPRA publishes and the multicast groups of their streams, by the formulas of the
// network specification. They are defaults, which the config may override for any line.
#pragma once

#include "feed/lines/line_config.h"
#include "feed/opra/line_numbers.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace pinstrike::feed::opra {

/// All published numbers, ascending.
[[nodiscard]] std::vector<std::uint16_t> published_lines();

/// Production and retransmission groups of a published line; nothing for any other number.
[[nodiscard]] std::optional<LineConfig> published_line(std::uint16_t number);

/// The lines with the given numbers; those that are not published are left out.
[[nodiscard]] std::vector<LineConfig> published_lines(std::span<const std::uint16_t> numbers);

/// The subnets of the senders of a published line's stream: first the primary site's, then the
/// disaster site's.
[[nodiscard]] std::optional<std::array<nic::Subnet, 2>> published_sources(std::uint16_t number,
                                                                          Stream stream);

}  // namespace pinstrike::feed::opra
