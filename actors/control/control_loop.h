// path: cold
//
// Runs an appliance from its start to its account. The commands `run` and `replay` share this.
#pragma once

#include "actors/appliance/appliance.h"
#include "actors/control/capture_verdict.h"
#include "actors/topology/feed_config.h"
#include "config/problem.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace pinstrike::actors {

struct RunFeedOptions {
    std::string config_file;  ///< for the log; empty: no file
    std::optional<std::int64_t>
        for_ns;                ///< run time; nullopt: until a signal or the end of the input
    std::string account_file;  ///< "-": standard output; empty: none is written
    std::string book_file;     ///< empty: none is written
    std::string admin_socket;  ///< path; empty: no admin socket
    bool view = false;         ///< show live figures on standard output once a second
    bool recovers = false;     ///< the books take recorded state; needs config_file
    bool metrics = false;      ///< serve metrics at the config's address
    /// Called often by the control thread. A text ends the run, and is its cause. May be empty.
    std::function<std::string(Appliance&)> at_step;
    /// Called at the end of the run, before the threads are stopped. May be empty.
    std::function<void(const RunEnd&)> at_stop;
    /// More work to do at the end, when all threads have been joined; may be empty.
    std::function<Exit(Appliance&)> at_end;
    std::vector<std::string> files_at_end;  ///< that at_end writes
};

/// Runs until the input ends, the time is over, SIGINT or SIGTERM comes, or a user asks at the
/// admin socket to stop. Then it stops in order and writes account and book. SIGHUP reloads the
/// config file, but a SIGHUP because the terminal was closed stops the program.
[[nodiscard]] Exit run_feed(const FeedConfig& config, const RunFeedOptions& options);

}  // namespace pinstrike::actors
