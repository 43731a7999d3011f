// path: cold
//
// The work of the recovery thread (or of a simulation). It reads the pollers' notes, steps recovery
// and its sources, and puts the blocks that they deliver into the rings to the pollers. step() gets
// the wall time. A jump of the wall clock moves recovery's own time by at most one second.
#pragma once

#include "actors/recovery/repair_rings.h"
#include "actors/threads/step_free_clock.h"
#include "feed/recovery/recovery.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace pinstrike::actors {

/// Makes the repair rings of a poller with these lines. Returns the ends of the poller and those of
/// recovery.
[[nodiscard]] std::pair<std::unique_ptr<PollerRepairRings>, RecoveryRepairRings> make_repair_rings(
    std::vector<std::uint16_t> lines);

/// The memory of the repair rings of one poller, in bytes.
[[nodiscard]] std::size_t repair_rings_bytes();

class RecoveryTask final : private feed::RepairSink {
  public:
    RecoveryTask(const feed::RecoveryConfig& config, std::vector<RecoveryRepairRings> rings,
                 std::vector<std::unique_ptr<feed::RepairSource>> sources,
                 const feed::Numbering& numbering);

    /// Returns the number of notes read plus the work of recovery. If it is 0, the thread may
    /// sleep.
    std::size_t step(std::int64_t now_ns);

    /// The time that the thread may sleep after a step that did nothing.
    [[nodiscard]] std::int64_t nap_ns() const;

    /// Reads the last notes and gives up all open holes. Must be called after the last step and
    /// after the pollers have ended, from the thread that called step() or from a thread that
    /// joined that thread.
    void finish();

    [[nodiscard]] const feed::Recovery& recovery() const { return *recovery_; }

  private:
    struct Place {
        std::size_t ring;
        std::uint32_t line;
    };

    // feed::RepairSink
    [[nodiscard]] bool carry(std::uint16_t line, std::span<const std::byte> bytes) override;

    std::size_t read_notes();

    std::vector<RecoveryRepairRings> rings_;
    std::map<std::uint16_t, Place> places_;  ///< by line number
    std::unique_ptr<feed::Recovery> recovery_;
    StepFreeClock clock_;
};

}  // namespace pinstrike::actors
