// path: cold
#include "actors/appliance/give_settings.h"

#include "nic/clock.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace pinstrike::actors {
namespace {

/// Whether every poller has adopted its settings, or has ended, within this time.
bool adopted_within(const std::vector<PollerThread>& pollers, std::int64_t within_ns) {
    const std::int64_t end_ns = nic::monotonic_ns() + within_ns;
    const auto adopted = [&pollers] {
        return std::all_of(pollers.begin(), pollers.end(), [](const PollerThread& poller) {
            return poller.task->settings().adopted() ||
                   poller.control->ended.load(std::memory_order_acquire);
        });
    };
    while (!adopted()) {
        if (nic::monotonic_ns() >= end_ns) {
            return false;
        }
        std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    return true;
}

/// Prepares the lines that `config` has for the poller and the poller lacks; null if there are
/// none.
std::unique_ptr<MoreLines> more_lines(const FeedParts& parts, const FeedConfig& config,
                                      std::size_t poller, Problems& problems) {
    const PollerTask& task = *parts.pollers[poller].task;
    PollerPlan plan = plan_topology(config).pollers[poller];
    const std::vector<std::uint16_t> known = line_numbers_of(task);
    std::erase_if(plan.lines, [&](std::size_t line) {
        return std::ranges::find(known, config.lines[line].number) != known.end();
    });
    if (plan.lines.empty()) {
        return nullptr;
    }
    const std::size_t room = task.router().lines_max() - task.lines_count();
    if (parts.recovery.task || parts.recovery.peers) {
        add_problem(problems, "",
                    "lines: recovery and peers know only the lines of the start: needs a restart");
    } else if (plan.lines.size() > room) {
        add_problem(problems, "",
                    fmt::format("{}: can add {} lines while it runs, not {}: needs a restart",
                                plan.name, room, plan.lines.size()));
    }
    if (!problems.empty()) {
        return nullptr;
    }
    PollerSetup setup;
    setup.arbitration = config.arbitration;
    setup.silence = config.silence;
    setup.received = streams_received(config);
    for (const std::size_t line : plan.lines) {
        setup.lines.push_back(config.lines[line]);
    }
    std::vector<std::vector<nic::Group>> groups;
    for (const std::size_t port : plan.ports) {
        groups.push_back(groups_at(config, plan, config.ports[port]));
    }
    return task.prepare_lines(setup, groups, problems);
}

}  // namespace

SettingsOutcome give_settings(FeedParts& parts, const FeedConfig& config, std::int64_t within_ns,
                              Problems& problems) {
    if (!adopted_within(parts.pollers, within_ns)) {  // it may still use those offered before
        add_problem(problems, "",
                    "a poller makes no loop steps and has yet to adopt the reload before: reload "
                    "again when it continues");
        return SettingsOutcome::refused;
    }
    std::vector<std::unique_ptr<PollerSettings>> all;
    for (std::size_t i = 0; i < parts.pollers.size() && problems.empty(); ++i) {
        auto settings = std::make_unique<PollerSettings>(
            PollerSettings{config.arbitration.window_ns,
                           config.silence,
                           config.block_checksum,
                           config.test_symbols,
                           {},
                           more_lines(parts, config, i, problems)});
        for (const std::size_t port : parts.topology.pollers[i].ports) {
            settings->sources.push_back(config.ports[port].sources);
        }
        all.push_back(std::move(settings));
    }
    if (!problems.empty()) {
        return SettingsOutcome::refused;
    }
    for (std::size_t i = 0; i < parts.pollers.size(); ++i) {
        parts.pollers[i].settings = std::move(all[i]);
        parts.pollers[i].task->settings().offer(*parts.pollers[i].settings);
    }
    return adopted_within(parts.pollers, within_ns) ? SettingsOutcome::adopted
                                                    : SettingsOutcome::offered;
}

}  // namespace pinstrike::actors
