// path: cold
//
// Tells whether all threads make progress.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pinstrike::actors {

class Heartbeat {
  public:
    /// `steps`: the loop steps of each thread so far, always in the same order. True if every
    /// count has changed since the last call that returned true, or since the start.
    [[nodiscard]] bool beats(std::span<const std::uint64_t> steps) {
        before_.resize(steps.size(), 0);
        for (std::size_t i = 0; i < steps.size(); ++i) {
            if (steps[i] == before_[i]) {
                return false;
            }
        }
        before_.assign(steps.begin(), steps.end());
        return true;
    }

  private:
    std::vector<std::uint64_t> before_;
};

}  // namespace pinstrike::actors
