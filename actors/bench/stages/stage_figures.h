// path: cold
//
// The measured costs of the stages, and their output as text and JSON.
#pragma once

#include "actors/bench/stages/stage.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace pinstrike::actors {

/// The figures of one capture. The time of a path includes all stages of its thread up to its last
/// one, so the cost of a stage is the difference between two paths.
struct StageFigures {
    std::string name;
    std::uint64_t loop_packets = 0;
    double messages_per_packet = 0;
    /// By stage: nanoseconds per packet of the path that ends with the stage, one value per run;
    /// empty: the stage was not measured.
    std::array<std::vector<double>, stages_count> path_ns;
    /// By stage: packets that went through this path while it was measured.
    std::array<std::uint64_t, stages_count> measured_packets{};
};

/// Nanoseconds per packet: the median, the lowest and the highest value of all runs.
struct StageCost {
    double median_ns = 0;
    double lowest_ns = 0;
    double highest_ns = 0;
};

/// Returns the cost of one stage alone. The stage must have been measured.
[[nodiscard]] StageCost cost_of(const StageFigures& figures, Stage stage);

/// Returns the cost of all stages of a thread up to and including this stage.
[[nodiscard]] StageCost cost_up_to(const StageFigures& figures, Stage stage);

/// Returns one table per capture. `tick_ns` is the duration of a tick of the time stamp counter.
[[nodiscard]] std::string stages_text(std::span<const StageFigures> shapes, double tick_ns);

/// {"tick_ns": T, "shapes": [{"name", "packets", "messages_per_packet", "stages": [{"stage",
/// "order", "measured_packets", "ns_per_packet": {"median", "lowest", "highest"},
/// "ns_per_message"}]}]}
[[nodiscard]] std::string stages_json(std::span<const StageFigures> shapes, double tick_ns);

}  // namespace pinstrike::actors
