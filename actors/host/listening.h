// path: cold
#pragma once

#include "actors/topology/feed_config.h"
#include "config/problem.h"

namespace pinstrike::actors {

/// At which ports this process may listen.
struct ListeningRights {
    unsigned first_free_port = 1024;  ///< those below need CAP_NET_BIND_SERVICE
    bool below_too = false;
};

[[nodiscard]] ListeningRights read_listening_rights();

/// Endpoints of the config that can never be opened with these rights. Whether an address is in use
/// or there now, the start itself sees.
void check_listening(const FeedConfig& config, ListeningRights rights, Problems& problems);

}  // namespace pinstrike::actors
