// path: cold
//
// How long a thread sleeps between steps that find no work: not at all at first, and then for times
// that grow.
#pragma once

#include "config/wall_time.h"

#include <algorithm>
#include <cstdint>

namespace pinstrike::actors {

class Nap {
  public:
    void worked(std::int64_t now_ns) {
        busy_ns_ = now_ns;
        next_ns_ = shortest_ns;
    }

    /// After a step without work. 0: the thread does not sleep yet.
    [[nodiscard]] std::int64_t next(std::int64_t now_ns) {
        if (pinstrike::since(busy_ns_, now_ns) <= spin_ns) {
            return 0;
        }
        const std::int64_t nap_ns = next_ns_;
        next_ns_ = std::min(next_ns_ * 2, longest_ns);
        return nap_ns;
    }

  private:
    static constexpr std::int64_t spin_ns = 50'000;  // about the cost of a wake-up
    static constexpr std::int64_t shortest_ns = 20'000;
    static constexpr std::int64_t longest_ns = 1'000'000;

    std::int64_t busy_ns_ = 0;  ///< when there was work the last time
    std::int64_t next_ns_ = shortest_ns;
};

}  // namespace pinstrike::actors
