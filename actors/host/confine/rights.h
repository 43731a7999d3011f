// path: cold
//
// After everything is open, the process no longer needs the rights that it was started with. It
// drops them for good, in every thread and for every program that it might execute. Only the
// control thread keeps those that a port needs to close cleanly.
#pragma once

#include "actors/topology/feed_config.h"
#include "nic/port_needs.h"

#include <string>
#include <vector>

namespace pinstrike::actors {

/// The rights that the ports of the config need until the end, each once.
[[nodiscard]] std::vector<nic::Right> rights_kept(const FeedConfig& config);

/// Text: "none", or names and purposes.
[[nodiscard]] std::string to_text(const std::vector<nic::Right>& rights);

struct Confinement {
    std::string kept;                  ///< text of the rights that the process had and keeps
    std::vector<std::string> remarks;  ///< threads that could not drop their rights
};

/// Must be called by the control thread, once everything is open. Threads that it makes later begin
/// with the rights that it keeps; hot threads drop these too (drop_all_rights). Neither this
/// process nor a program that it executes can gain rights again (no_new_privs). `secret`: only root
/// may read the process's memory, and core dumps are disabled.
[[nodiscard]] Confinement drop_rights(const std::vector<nic::Right>& kept, bool secret);

/// Drops all rights of the calling thread. Safe in a signal handler.
void drop_all_rights();

}  // namespace pinstrike::actors
