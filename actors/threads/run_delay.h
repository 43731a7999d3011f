// path: cold
//
// How long the calling thread had work and no processor, as the scheduler counts it.
#pragma once

#include "nic/file_descriptor.h"

#include <cstdint>

namespace pinstrike::actors {

class RunDelay {
  public:
    /// Since the last call, which the same thread made; 0: the kernel does not count it.
    [[nodiscard]] std::int64_t take();

  private:
    nic::FileDescriptor file_;
    std::int64_t taken_ns_ = 0;
};

}  // namespace pinstrike::actors
