// path: cold
//
// Whether all threads are alive: each must have taken a turn since all of them last had.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pinstrike::actors {

class Heartbeat {
  public:
    /// `turns`: of each thread so far, always in the same order. True if all have gone on since the
    /// last time that it was true; since the start, at first.
    [[nodiscard]] bool beats(std::span<const std::uint64_t> turns) {
        before_.resize(turns.size(), 0);
        for (std::size_t i = 0; i < turns.size(); ++i) {
            if (turns[i] == before_[i]) {
                return false;
            }
        }
        before_.assign(turns.begin(), turns.end());
        return true;
    }

  private:
    std::vector<std::uint64_t> before_;
};

}  // namespace pinstrike::actors
