// path: cold
//
// Where the frames of a replay come from.
#pragma once

#include "actors/gateway/replay_frames.h"

#include <cstddef>
#include <string>
#include <vector>

namespace pinstrike::actors::gateway {

class ReplaySource {
  public:
    virtual ~ReplaySource() = default;

    /// Takes a block of whole frames. False: there is none now. Does not wait.
    [[nodiscard]] virtual bool take(std::vector<std::byte>& block) = 0;

    /// Why no further block comes; empty: one may come.
    [[nodiscard]] virtual std::string ended() = 0;

  protected:
    ReplaySource() = default;
    ReplaySource(const ReplaySource&) = delete;
    ReplaySource& operator=(const ReplaySource&) = delete;
};

}  // namespace pinstrike::actors::gateway
