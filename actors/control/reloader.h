// path: cold
//
// Reload: the config file is read anew, and what a running program can take of it is given to it.
// All of it or nothing: where anything is wrong or needs a restart, the config that runs stays
// whole as it is, so that what runs is always what one text said.
#pragma once

#include "actors/appliance/appliance.h"
#include "actors/control/control_log.h"
#include "actors/control/timed_reader.h"
#include "actors/topology/config_change.h"
#include "actors/topology/feed_config.h"

#include <string>
#include <vector>

namespace pinstrike::command {

struct ReloadOutcome {
    bool applied = false;
    std::vector<actors::ConfigChange> changes;
    std::vector<std::string> reasons;  ///< why it was refused
};

class Reloader {
  public:
    /// `file`: empty, there is none (a replay).
    Reloader(const actors::FeedConfig& config, std::string file)
        : config_(config), file_(std::move(file)) {}

    /// `by`: who asked, for the log.
    ReloadOutcome reload(actors::Appliance& appliance, DriveLog& log, const std::string& by);

    /// The level alone, until the next reload that changes it.
    void set_log_level(actors::LogLevel level, DriveLog& log);

    /// What is in force.
    [[nodiscard]] const actors::FeedConfig& config() const { return config_; }

    [[nodiscard]] const std::string& file() const { return file_; }

  private:
    void read(ReloadOutcome& outcome, actors::FeedConfig& next);

    actors::FeedConfig config_;
    std::string file_;
    TimedReader reader_;
};

}  // namespace pinstrike::command
