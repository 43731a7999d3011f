// path: cold
//
// What the stages were measured to take, and how it is told.
#pragma once

#include "actors/bench/stages/stage.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace pinstrike::actors {

/// Of one capture. A path's time is that of all stages up to its last one of the same thread; the
/// cost of a stage is the difference of two.
struct StageFigures {
    std::string name;
    std::uint64_t loop_packets = 0;
    double messages_per_packet = 0;
    /// Nanoseconds a packet of the path as far as the stage, one for each run; empty: not measured.
    std::array<std::vector<double>, stages_count> path_ns;
    /// Packets that went through it while it was measured.
    std::array<std::uint64_t, stages_count> measured_packets{};
};

/// Nanoseconds a packet; of the runs the middle one, the lowest and the highest.
struct StageCost {
    double median_ns = 0;
    double lowest_ns = 0;
    double highest_ns = 0;
};

/// Of one stage alone. It was measured.
[[nodiscard]] StageCost cost_of(const StageFigures& figures, Stage stage);

/// Of a thread, all its stages up to this one together.
[[nodiscard]] StageCost cost_up_to(const StageFigures& figures, Stage stage);

/// One table a capture; `tick_ns` is what a tick of the time stamp counter takes.
[[nodiscard]] std::string stages_text(std::span<const StageFigures> shapes, double tick_ns);

/// {"tick_ns": T, "shapes": [{"name", "packets", "messages_per_packet", "stages": [{"stage",
/// "order", "measured_packets", "ns_per_packet": {"median", "lowest", "highest"},
/// "ns_per_message"}]}]}
[[nodiscard]] std::string stages_json(std::span<const StageFigures> shapes, double tick_ns);

}  // namespace pinstrike::actors
