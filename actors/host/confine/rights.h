// path: cold
//
// After everything is open, the process has no use for the rights it was started with. They are
// dropped for good, in every thread and for every program it might run: all but those that a port
// needs to end cleanly, which the control thread keeps, and hot threads never have.
#pragma once

#include "actors/topology/feed_config.h"
#include "nic/port_needs.h"

#include <string>
#include <vector>

namespace pinstrike::actors {

/// Of all ports of the config, each once.
[[nodiscard]] std::vector<nic::Right> rights_kept(const FeedConfig& config);

/// "none", or names and purposes; for people.
[[nodiscard]] std::string to_text(const std::vector<nic::Right>& rights);

struct Confinement {
    std::string kept;                  ///< "CAP_NET_ADMIN" as far as there was such a right; "none"
    std::vector<std::string> remarks;  ///< what could not be dropped
};

/// From the control thread, once all is open. Threads made from now on by the calling one begin
/// with what it keeps; hot threads drop that too (drop_all_rights). Neither this process nor what
/// it runs gains rights again (no_new_privs). `secret`: nobody but root may look into its memory,
/// and none of it is dumped.
[[nodiscard]] Confinement drop_rights(const std::vector<nic::Right>& kept, bool secret);

/// The calling thread keeps none. Safe in a signal handler.
void drop_all_rights();

}  // namespace pinstrike::actors
