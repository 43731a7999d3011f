// path: cold
//
// Tells whether all threads make progress.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace pinstrike::actors {

class Heartbeat {
  public:
    /// `steps`: the loop steps of each thread so far, always in the same order. True if every
    /// count has changed since the last call that returned true, or since the start.
    [[nodiscard]] bool beats(std::span<const std::uint64_t> steps) {
        before_.resize(steps.size(), 0);
        const bool all = std::ranges::equal(steps, before_, std::not_equal_to{});
        if (all) {
            before_.assign(steps.begin(), steps.end());
        }
        return all;
    }

  private:
    std::vector<std::uint64_t> before_;
};

}  // namespace pinstrike::actors
