// path: cold
//
// TCP sockets over IPv4. Each function that fails returns an invalid descriptor and leaves the
// reason in errno.
#pragma once

#include "nic/file_descriptor.h"
#include "nic/packet/address.h"

#include <sys/socket.h>

namespace pinstrike::actors::peer {

/// Listens at an address; port 0: any. `flags`: SOCK_NONBLOCK or 0.
[[nodiscard]] nic::FileDescriptor listen_at(const nic::Group& at, int backlog,
                                            int flags = SOCK_NONBLOCK);

/// Begins to connect, without waiting. When the socket is writable, error_of() says whether it did.
[[nodiscard]] nic::FileDescriptor connect_to(const nic::Group& at);

/// The errno of a connect that has ended; 0: it succeeded.
[[nodiscard]] int error_of(int descriptor);

/// Takes a connection that waits, without waiting for one. `from`: the other side.
[[nodiscard]] nic::FileDescriptor accept_from(int listener, nic::Group& from);

/// The addresses of both ends; 0.0.0.0:0 if the socket has none.
[[nodiscard]] nic::Group local_address(int descriptor);
[[nodiscard]] nic::Group remote_address(int descriptor);

}  // namespace pinstrike::actors::peer
