// path: cold
//
// Reload: reads the config file again and gives the running program the changes that it can adopt.
// If anything is wrong or needs a restart, none of the changes applies, so that the config in use
// is always the content of one file.
#pragma once

#include "actors/appliance/appliance.h"
#include "actors/control/control_log.h"
#include "actors/control/timed_reader.h"
#include "actors/topology/config_change.h"
#include "actors/topology/feed_config.h"

#include <string>
#include <string_view>
#include <vector>

namespace pinstrike::actors {

inline constexpr std::string_view waits_text =
    "a poller makes no loop steps: it adopts the changes when it continues";

struct ReloadOutcome {
    bool applied = false;
    std::vector<ConfigChange> changes;
    std::vector<std::string> reasons;  ///< why the reload was refused
    bool waits = false;                ///< a poller adopts the changes when it continues
};

class Reloader {
  public:
    /// `file`: empty if there is none (a replay).
    Reloader(const FeedConfig& config, std::string file)
        : config_(config), file_(std::move(file)) {}

    /// `by`: the user who asked, for the log.
    ReloadOutcome reload(Appliance& appliance, ControlLog& log, const std::string& by);

    /// Changes only the log level, until the next reload that changes it.
    void set_log_level(LogLevel level, ControlLog& log);

    /// The config in use.
    [[nodiscard]] const FeedConfig& config() const { return config_; }

    [[nodiscard]] const std::string& file() const { return file_; }

  private:
    void read(ReloadOutcome& outcome, FeedConfig& next);

    FeedConfig config_;
    std::string file_;
    TimedReader reader_;
};

}  // namespace pinstrike::actors
