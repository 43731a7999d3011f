// path: cold
#pragma once

#include "nic/file_descriptor.h"

#include <string_view>

namespace pinstrike::actors {

/// A Unix socket for datagrams that never blocks, connected to a path, or to an abstract name that
/// begins with "@"; not valid, with errno, on an error.
[[nodiscard]] nic::FileDescriptor connected_datagram_socket(std::string_view address);

}  // namespace pinstrike::actors
