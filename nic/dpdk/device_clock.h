// path: hot
//
// Converts time stamps of a NIC to wall time. The NIC stamps frames with ticks of its own clock,
// whose rate and origin are unknown. To measure them, this clock and the wall clock are read at the
// same moment, twice, some time apart. The two pairs of readings give the rate, and the later pair
// gives the origin. A conversion is then one multiplication and one shift.
#pragma once

#include <cstdint>

namespace pinstrike::nic::dpdk {

class DeviceClock {
  public:
    /// A time stamp that differs more than this from the time of its burst is not used.
    static constexpr std::int64_t distrusted_ns = 1'000'000'000;

    /// The shortest time between two readings that suffices to measure the rate.
    static constexpr std::int64_t baseline_ns_min = 10'000'000;

    /// Adds a reading of both clocks at (nearly) the same time. Cold; called about once a second.
    void calibrate(std::uint64_t ticks, std::int64_t wall_ns) noexcept {
        if (!begun_) {
            begun_ = true;
            ticks_ = ticks;
            wall_ns_ = wall_ns;
            return;
        }
        const auto elapsed_ticks = static_cast<std::int64_t>(ticks - ticks_);
        const std::int64_t elapsed_ns = wall_ns - wall_ns_;
        if (elapsed_ns < baseline_ns_min) {
            return;
        }
        ticks_ = ticks;
        wall_ns_ = wall_ns;
        // A clock that stood still, went back or runs at 64 GHz or more is not usable.
        usable_ = elapsed_ticks > 0 && elapsed_ticks / elapsed_ns < 64;
        if (usable_) {
            ns_per_tick_q32_ =
                static_cast<std::int64_t>((static_cast<Wide>(elapsed_ns) << 32) / elapsed_ticks);
        }
    }

    /// Wall time of a time stamp; `burst_ns`, the time of the burst, if the stamp is not usable.
    [[nodiscard]] std::int64_t wall_ns(std::uint64_t ticks, std::int64_t burst_ns) const noexcept {
        if (!usable_) {
            return burst_ns;
        }
        const auto since = static_cast<std::int64_t>(ticks - ticks_);  // may be negative
        const std::int64_t stamp_ns =
            wall_ns_ +
            static_cast<std::int64_t>((static_cast<Wide>(since) * ns_per_tick_q32_) >> 32);
        const std::int64_t difference = stamp_ns - burst_ns;
        return difference > -distrusted_ns && difference < distrusted_ns ? stamp_ns : burst_ns;
    }

    [[nodiscard]] bool usable() const noexcept { return usable_; }

  private:
    __extension__ using Wide = __int128;

    std::uint64_t ticks_ = 0;
    std::int64_t wall_ns_ = 0;
    std::int64_t ns_per_tick_q32_ = 0;
    bool begun_ = false;
    bool usable_ = false;
};

}  // namespace pinstrike::nic::dpdk
