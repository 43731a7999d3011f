// path: cold
//
// The traffic for measurements: `generate --preset` and `bench` use the same presets.
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

/// Packets of each stream unless the caller asks for another number.
inline constexpr std::size_t preset_packets = 10'000;

/// Configures the traffic of a preset: packets from the middle of a day, which may be repeated
/// endlessly.
void shape_as(std::string_view preset, TrafficConfig& traffic);

/// What a capture of a preset has on the 96 regular data lines.
struct PresetTraffic {
    std::string_view preset;
    std::string_view streams = "A";  ///< or "AB"
    std::size_t series_count = 1'500'000;
    unsigned messages_per_packet = 0;  ///< see TrafficConfig
};

/// Writes a capture of a preset. Returns the number of packets written; 0: it failed, and Problems
/// were added.
[[nodiscard]] std::size_t write_preset(const std::string& path, const PresetTraffic& traffic,
                                       Problems& problems);

}  // namespace pinstrike::feed::opra::traffic
