// path: cold
#pragma once

#include "actors/topology/feed_config.h"
#include "config/problem.h"

namespace pinstrike::actors {

/// The TCP ports at which this process may listen.
struct ListeningRights {
    unsigned first_free_port = 1024;  ///< lower ports need CAP_NET_BIND_SERVICE
    bool below_too = false;
};

[[nodiscard]] ListeningRights read_listening_rights();

/// Reports the config's endpoints that can never be opened with these rights. It does not check
/// whether an address exists or is in use; the start itself finds that.
void check_listening(const FeedConfig& config, ListeningRights rights, Problems& problems);

}  // namespace pinstrike::actors
