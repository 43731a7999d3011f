// path: cold
//
// Recovery as its thread runs it, or a simulation: it reads the pollers' notes, lets recovery ask
// and its sources answer, and puts what they bring on the roads to the pollers. Stepped with wall
// time, which may jump; recovery's own time goes on all the same.
#pragma once

#include "actors/recovery/repair_rings.h"
#include "feed/recovery/recovery.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace pinstrike::actors {

/// The roads of a poller that has these lines: its ends, and recovery's.
[[nodiscard]] std::pair<std::unique_ptr<PollerRoads>, RecoveryRoads> make_roads(
    std::vector<std::uint16_t> lines);

/// Memory of the roads of one poller.
[[nodiscard]] std::size_t roads_bytes();

class RecoveryTask final : private feed::RepairRoad {
  public:
    RecoveryTask(const feed::RecoveryConfig& config, std::vector<RecoveryRoads> roads,
                 std::vector<std::unique_ptr<feed::RepairSource>> sources);

    /// How much was done.
    std::size_t step(std::int64_t now_ns);

    /// How long may be slept if the last step did nothing.
    [[nodiscard]] std::int64_t nap_ns() const;

    /// The end, after the last step and after the pollers have ended: hears what they noted last,
    /// and gives up what is open. By the thread that stepped, or another that joined it.
    void finish();

    [[nodiscard]] const feed::Recovery& recovery() const { return *recovery_; }

  private:
    struct Place {
        std::size_t road;
        std::uint32_t line;
    };

    // RepairRoad
    [[nodiscard]] bool carry(std::uint16_t line, std::span<const std::byte> bytes) override;

    std::size_t read_notes(RecoveryRoads& road, std::size_t first_line);
    std::size_t read_notes();

    std::vector<RecoveryRoads> roads_;
    std::map<std::uint16_t, Place> places_;  ///< of lines by number
    std::unique_ptr<feed::Recovery> recovery_;
    std::int64_t seen_ns_ = 0;  ///< wall time of the last step
    std::int64_t time_ns_ = 0;  ///< never decreases, and never jumps
};

}  // namespace pinstrike::actors
