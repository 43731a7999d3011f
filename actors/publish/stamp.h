// path: hot
//
// Stamps: the place of an event among all events of its core, which also states the time of its
// receipt (pinstrike.h has the layout).
//
// A stamp follows from the stamp of the event before it and the event's time of receipt alone. So a
// reader of the stream that knows the stamp of one event computes those of all later ones.
#pragma once

#include "actors/publish/pinstrike.h"
#include "config/time_units.h"

#include <algorithm>
#include <cstdint>

namespace pinstrike::actors {

/// Times of receipt behind this (the year 2116) are wrong, and could overflow the stamps.
inline constexpr std::int64_t ts_receive_ns_max = std::int64_t{1} << 62;
/// The highest base_ms and the highest ms of a StampClock, whose sum is a time of receipt.
inline constexpr std::uint64_t stamp_ms_max = ts_receive_ns_max / (2 * ms_ns);

/// Whether stamp `a` is newer than stamp `b`. Right for stamps less than 24 days apart.
[[nodiscard]] inline bool stamp_after(std::uint64_t a, std::uint64_t b) {
    return static_cast<std::int64_t>(a - b) > 0;
}

/// Whether late message `late` comes after message `stated` of its line, also if the counter wraps
/// in between. A late message is minutes old, so a number that is newer is at most a quarter of all
/// numbers newer, but an older one may be of the morning. Signed differences would take it for
/// newer when the line has sent 2^31 messages since.
[[nodiscard]] inline bool late_after(std::uint32_t late, std::uint32_t stated) {
    return stated - late >= 1U << 30;
}

/// Counts the events of one core. `stamp` has no line and no writing bit.
class StampClock {
  public:
    /// The time from which stamps count, as pinstrike_core.base_ms; 0: no event had a time yet.
    [[nodiscard]] std::uint64_t base_ms() const { return base_ms_; }

    [[nodiscard]] std::uint64_t stamp() const { return stamp_; }

    /// The stamp of the next event, which was received at `ts_ns`.
    std::uint64_t next(std::int64_t ts_ns) {
        Stamps stamps{*this};
        const std::uint64_t stamp = stamps.next(ts_ns);
        stamps.end();
        return stamp;
    }

    /// Gives the stamps of several events in a row. The clock has them after end(), or after set()
    /// in between.
    class Stamps {
      public:
        explicit Stamps(StampClock& clock)
            : clock_(clock), stamp_(clock.stamp_), from_ns_(clock.from_ns_) {}

        [[gnu::always_inline]] std::uint64_t next(std::int64_t ts_ns) {
            stamp_ += PINSTRIKE_STAMP_PLACE;
            if (needs_new_millisecond(ts_ns, from_ns_)) [[unlikely]] {
                clock_.set(stamp_);
                stamp_ = clock_.follow(ts_ns);
                from_ns_ = clock_.from_ns_;
            }
            return stamp_;
        }

        void end() { clock_.set(stamp_); }

      private:
        StampClock& clock_;
        std::uint64_t stamp_;  ///< here, so that it stays in a register
        std::uint64_t from_ns_;
    };

    void set(std::uint64_t stamp) { stamp_ = stamp; }

    /// Whole milliseconds from base_ms() to the stamp, which has only the low 32 bits of them.
    [[nodiscard]] std::uint64_t ms() const {
        return ms_ + static_cast<std::uint32_t>(stamp_ / PINSTRIKE_STAMP_MS - ms_);
    }

    /// A stamp newer than all so far, for a change that no event causes. Readers of the stream find
    /// the change by its count, because an event of a later millisecond hides it in the stamp.
    std::uint64_t skip() {
        ++changes_;
        return stamp_ += PINSTRIKE_STAMP_PLACE;
    }

    /// Calls of skip().
    [[nodiscard]] std::uint64_t changes() const { return changes_; }

    /// Continues behind an event of which another clock published these.
    void start(std::uint64_t base_ms, std::uint64_t stamp, std::uint64_t ms) {
        base_ms_ = base_ms;
        stamp_ = stamp;
        ms_ = ms;
        set_next();
    }

  private:
    /// A wrong time of receipt moves the stamps by no more than this. After a quiet night, each of
    /// the first events moves them by it until they state the time again.
    static constexpr std::uint64_t step_ms_max = 1 << 16;

    /// 13 days, about a quarter of the range of stamps. If times differ by more, stamps cannot
    /// follow. A power of two, so that the comparison for each event is a shift.
    static constexpr unsigned far_bits = 50;
    static constexpr std::uint64_t far_ns = std::uint64_t{1} << far_bits;
    static constexpr std::uint64_t far_ms = far_ns / ms_ns;

    /// Whether an event was received in a later millisecond than the last one, or far before it.
    [[gnu::always_inline]] static bool needs_new_millisecond(std::int64_t ts_ns,
                                                             std::uint64_t from_ns) {
        return (static_cast<std::uint64_t>(ts_ns) - from_ns) >> far_bits != 0;  // wraps far before
    }

    [[gnu::noinline]] std::uint64_t follow(std::int64_t ts_ns) {
        ms_ = ms();  // more events than fit in a millisecond take places of the next
        if (ts_ns >= ms_ns) {
            const auto now_ms = static_cast<std::uint64_t>(ts_ns / ms_ns);
            move_base(now_ms);
            if (now_ms > base_ms_ + ms_) {
                ms_ = std::min(now_ms - base_ms_, ms_ + step_ms_max);
                stamp_ = ms_ * PINSTRIKE_STAMP_MS;
            }
        }
        set_next();
        return stamp_;
    }

    /// The first event states the base. If another one is far from it, one of the two is wrong, and
    /// the base moves instead of the stamp: it moves back with the next event that is right.
    void move_base(std::uint64_t now_ms) {
        const std::uint64_t at_ms = base_ms_ + ms_;
        const std::uint64_t apart_ms = now_ms > at_ms ? now_ms - at_ms : at_ms - now_ms;
        if (base_ms_ == 0 || apart_ms > far_ms) {
            base_ms_ = now_ms - std::min(ms_, now_ms - 1);
        }
    }

    void set_next() { from_ns_ = (base_ms_ + ms_ + 1) * ms_ns - far_ns; }

    std::uint64_t base_ms_ = 0;
    std::uint64_t stamp_ = 0;
    std::uint64_t ms_ = 0;
    std::uint64_t changes_ = 0;
    /// Times in [from_ns_, from_ns_ + far_ns) are of the stamp's millisecond or before it, so they
    /// need no new millisecond.
    std::uint64_t from_ns_ = 1 - far_ns;
};

}  // namespace pinstrike::actors
