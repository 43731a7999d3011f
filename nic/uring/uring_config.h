// path: cold
#pragma once

#include <cstddef>
#include <string>

namespace pinstrike::nic {

/// The keys of a uring port.
struct UringConfig {
    std::string interface;                       ///< the kernel interface that joins the groups
    std::size_t kernel_buffer_bytes = 64 << 20;  ///< the SO_RCVBUF that is requested
};

}  // namespace pinstrike::nic
