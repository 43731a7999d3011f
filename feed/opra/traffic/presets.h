// path: cold
//
// The traffic that measurements are made on: one form for `generate --preset` and for `bench`.
#pragma once

#include "config/problem.h"
#include "feed/opra/traffic/traffic_config.h"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace pinstrike::feed::opra::traffic {

inline constexpr std::array<const char*, 4> preset_names{"full", "full-mix", "ordinary",
                                                         "ordinary-mix"};

/// About so many packets a stream, where nobody asks for another number.
inline constexpr std::size_t preset_packets = 10'000;

/// Packets of one of the presets, mid-day, that may be looped for ever.
void shape_as(std::string_view preset, TrafficConfig& traffic);

/// Writes a capture of a preset on the 96 lines of quotes, of stream "A", or "AB". Packets written;
/// 0 with Problems where it cannot be.
[[nodiscard]] std::size_t write_preset(const std::string& path, std::string_view preset,
                                       std::string_view streams, std::size_t series_count,
                                       Problems& problems);

}  // namespace pinstrike::feed::opra::traffic
