// path: cold
#include "actors/control/reloader.h"

#include "actors/topology/load_config.h"
#include "config/joined.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

namespace pinstrike::actors {
namespace {

/// Short, because the control thread, which feeds the watchdog, waits for the file.
constexpr std::chrono::seconds read_patience{1};

/// "log_level: info -> debug, silence.stream_down_after: 36s -> 60s"
std::string text_of(const std::vector<ConfigChange>& changes) {
    std::string text;
    for (const ConfigChange& change : changes) {
        text += fmt::format("{}{}: {} -> {}", text.empty() ? "" : ", ", change.path, change.before,
                            change.after);
    }
    return text;
}

}  // namespace

void Reloader::read(ReloadOutcome& outcome, FeedConfig& next) {
    if (file_.empty()) {
        outcome.reasons.emplace_back("there is no config file to read again");
        return;
    }
    Problems problems;
    const auto text = reader_.read(file_, read_patience, problems);
    auto loaded = text ? parse_config(*text, file_, problems) : std::nullopt;
    for (const Problem& problem : problems) {
        const std::string place = problem.place.text();
        outcome.reasons.push_back((place.empty() ? file_ : place) + ": " + problem.text);
    }
    if (!loaded) {
        return;
    }
    outcome.changes = changes_between(config_, *loaded);
    for (const ConfigChange& change : outcome.changes) {
        if (!change.reloads) {
            outcome.reasons.push_back(fmt::format("{}: needs a restart to change ({} -> {})",
                                                  change.path, change.before, change.after));
        }
    }
    next = std::move(*loaded);
}

ReloadOutcome Reloader::reload(Appliance& appliance, ControlLog& log, const std::string& by) {
    constexpr std::int64_t patience_ns = 200'000'000;
    ReloadOutcome outcome;
    FeedConfig next = config_;
    read(outcome, next);
    Problems problems;
    if (outcome.reasons.empty() && !outcome.changes.empty()) {
        outcome.waits = appliance.reload(next, patience_ns, problems) == SettingsOutcome::offered;
        for (const Problem& problem : problems) {
            outcome.reasons.push_back(problem.text);
        }
    }
    outcome.applied = outcome.reasons.empty();
    const std::string subject = "feed " + config_.name;
    ReloadCounters& counters = appliance.control_counts().reloads;
    counters.bump(outcome.applied ? ReloadCount::applied : ReloadCount::refused);
    counters.last_refused.set(outcome.applied ? 0 : 1);
    if (!outcome.applied) {
        log.add(LogCode::reload_refused, subject,
                fmt::format("{}; the previous config stays in force: {}", by,
                            joined(outcome.reasons, "; ")));
        return outcome;
    }
    config_ = std::move(next);
    log.set_level(config_.log_level);
    log.add(LogCode::reloaded, subject,
            fmt::format("{}; {}{}", by,
                        outcome.changes.empty() ? "nothing differs" : text_of(outcome.changes),
                        outcome.waits ? fmt::format("; {}", waits_text) : ""));
    return outcome;
}

void Reloader::set_log_level(LogLevel level, ControlLog& log) {
    config_.log_level = level;
    log.set_level(level);
}

}  // namespace pinstrike::actors
