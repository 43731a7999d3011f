// path: cold
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

namespace pinstrike::actors {

/// Decides which entries of one code and subject are written. The first `burst` entries are written
/// at once. If they continue, one is written after one second, two, four and so on, and then once a
/// minute. A quiet minute resets the limit. So entries that repeat for a week take about 10,000
/// lines, and rare entries are all written.
class RateLimit {
  public:
    explicit RateLimit(unsigned burst) : burst_(burst) {}

    /// Whether an entry may be written at this time. If not, it counts as held back.
    [[nodiscard]] bool admit(std::int64_t now_ns) {
        if (quiet(now_ns)) {
            passed_ = 0;
            interval_ns_ = shortest_ns;
        }
        last_ns_ = now_ns;
        if (passed_ < burst_) {
            ++passed_;
            next_ns_ = now_ns + interval_ns_;
            return true;
        }
        if (!due(now_ns)) {
            ++held_;
            return false;
        }
        logged(now_ns);
        return true;
    }

    /// Whether no entry came for more than longest_ns, so that the limit is reset.
    [[nodiscard]] bool quiet(std::int64_t now_ns) const { return now_ns - last_ns_ > longest_ns; }

    [[nodiscard]] bool due(std::int64_t now_ns) const { return now_ns >= next_ns_; }

    /// The entries held back are being reported.
    void logged(std::int64_t now_ns) {
        interval_ns_ = std::min(2 * interval_ns_, longest_ns);
        next_ns_ = now_ns + interval_ns_;
    }

    /// Entries held back since the last one that was written.
    [[nodiscard]] std::uint64_t held() const { return held_; }

    [[nodiscard]] std::uint64_t take_held() { return std::exchange(held_, 0); }

  private:
    static constexpr std::int64_t shortest_ns = 1'000'000'000;
    static constexpr std::int64_t longest_ns = 60 * shortest_ns;

    unsigned burst_;
    unsigned passed_ = 0;
    std::int64_t interval_ns_ = shortest_ns;
    std::int64_t next_ns_ = INT64_MIN;
    std::int64_t last_ns_ = INT64_MIN / 2;
    std::uint64_t held_ = 0;
};

}  // namespace pinstrike::actors
