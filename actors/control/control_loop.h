// path: cold
//
// What `run` and `replay` share: an appliance from its start to its account.
#pragma once

#include "actors/appliance/appliance.h"
#include "actors/topology/feed_config.h"
#include "config/problem.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace pinstrike::command {

struct DriveOptions {
    std::string config_file;             ///< for the log; empty: none
    std::optional<std::int64_t> for_ns;  ///< how long; none: until a signal or the input's end
    std::string account_file;            ///< "-": standard output; empty: none
    std::string book_file;               ///< empty: none
    std::string admin_socket;            ///< path; empty: none
    bool view = false;                   ///< show on standard output what goes on, once a second
    bool metrics = false;                ///< serve them where the config says
    /// What else there is to do at the end, with all threads joined; empty: nothing.
    std::function<Exit(actors::Appliance&)> at_end;
};

/// Runs until the input ends, the time is over, SIGINT or SIGTERM comes, or somebody asks for it at
/// the admin socket; stops in order, writes account and book. SIGHUP reads the config file anew;
/// the SIGHUP of a terminal that was closed ends it.
[[nodiscard]] Exit drive(const actors::FeedConfig& config, const DriveOptions& options);

}  // namespace pinstrike::command
