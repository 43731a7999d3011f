// path: cold
#include "actors/appliance/appliance.h"

#include "actors/threads/start_thread.h"
#include "actors/topology/feed_hours.h"
#include "nic/clock.h"
#include "nic/port_kind.h"

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <utility>

namespace pinstrike::actors {
namespace {

using nic::monotonic_ns;

/// A thread that was never started is not joinable.
void join(std::thread& thread) {
    if (thread.joinable()) {
        thread.join();
    }
}

void wait_for(const std::atomic<bool>& flag) {
    while (!flag.load(std::memory_order_acquire)) {
        std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
}

}  // namespace

bool Appliance::replays() const {
    return std::any_of(config_.ports.begin(), config_.ports.end(),
                       [](const nic::PortConfig& port) { return nic::row_of(port.kind).replays; });
}

bool Appliance::filters_calls() const {
    return CallFilter::in_this_build && config_.system_calls == SystemCalls::filtered;
}

std::vector<RefusedCalls> Appliance::refused_calls() const {
    std::vector<RefusedCalls> all;
    for (const PollerThread& poller : pollers_) {
        all.push_back(actors::refused_calls(poller.config.name, *poller.control));
    }
    for (const CoreThread& core : cores_) {
        all.push_back(actors::refused_calls(core.config.name, *core.control));
    }
    return all;
}

Appliance::~Appliance() {
    stop();
}

void Appliance::start() {
    const bool live = !replays();
    running_ = true;
    for (CoreThread& core : cores_) {
        core.thread = start_thread([&core, this] {
            run_core(*core.core, core.config.cpu, core.bell.get(), clock_, *core.control);
        });
    }
    for (const CoreThread& core : cores_) {
        wait_for(core.control->started);
    }
    if (recovery_.runs()) {
        recovery_.thread = start_thread([this] {
            run_recovery(recovery_.task.get(), recovery_.peers.get(), config_.control_cpu, clock_,
                         recovery_.control);
        });
        wait_for(recovery_.control.started);
    }
    started_ns_.store(monotonic_ns(), std::memory_order_relaxed);
    for (PollerThread& poller : pollers_) {
        poller.thread = start_thread([&poller, live, this] {
            run_poller(*poller.task, poller.config.cpu, poller.config.wait, live, clock_,
                       *poller.control);
        });
    }
    control_misplaced_ = !bind_this_thread(config_.control_cpu);
    if (publisher_) {
        publisher_->start();
    }
}

bool Appliance::input_ended() const {
    return std::all_of(pollers_.begin(), pollers_.end(), [](const PollerThread& poller) {
        return poller.control->ended.load(std::memory_order_acquire);
    });
}

bool Appliance::pollers_end_within(std::int64_t within_ns) {
    if (!replays()) {
        return true;
    }
    for (PollerThread& poller : pollers_) {
        poller.control->stop.store(true, std::memory_order_release);
    }
    const std::int64_t end_ns = monotonic_ns() + within_ns;
    while (!input_ended() && monotonic_ns() < end_ns) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return input_ended();
}

void Appliance::stop() {
    if (!running_) {
        return;
    }
    running_ = false;
    if (recovery_.runs()) {
        recovery_.control.stop.store(true, std::memory_order_release);
        join(recovery_.thread);
    }
    for (PollerThread& poller : pollers_) {
        poller.control->stop.store(true, std::memory_order_release);
    }
    for (PollerThread& poller : pollers_) {
        join(poller.thread);
    }
    finish_recovery();
    for (CoreThread& core : cores_) {
        core.control->stop.store(true, std::memory_order_release);
        if (core.bell) {
            core.bell->wake();
        }
    }
    for (CoreThread& core : cores_) {
        join(core.thread);
    }
    stopped_ns_.store(monotonic_ns(), std::memory_order_relaxed);
}

/// May fail again if the thread ended with an error. Then only the data of recovery is lost.
void Appliance::finish_recovery() {
    try {
        if (recovery_.peers) {
            recovery_.peers->finish();
        }
        if (recovery_.task) {
            recovery_.task->finish();
        }
    } catch (const std::exception& failure) {
        remarks_.push_back(fmt::format("recovery: not finished: {}", failure.what()));
    }
}

std::string_view Appliance::recovery_failure() const {
    const bool ended = recovery_.control.ended.load(std::memory_order_acquire);
    return ended ? std::string_view{recovery_.control.failure} : std::string_view{};
}

std::vector<Appliance::ChangedPort> Appliance::housekeep() {
    clock_.recalibrate();
    std::vector<ChangedPort> changed;
    for (const PollerThread& poller : pollers_) {
        for (std::size_t i = 0; i < poller.task->ports_count(); ++i) {
            const nic::Port& port = *poller.task->input(i).port;
            const nic::InterfaceChange change = port.follow_interface();
            if (change != nic::InterfaceChange::none) {
                changed.push_back({port.name(), change});
            }
        }
    }
    return changed;
}

bool Appliance::settings_taken(std::int64_t within_ns) const {
    const std::int64_t end_ns = monotonic_ns() + within_ns;
    const auto adopted = [this] {
        return std::all_of(pollers_.begin(), pollers_.end(), [](const PollerThread& poller) {
            return poller.task->settings().adopted() ||
                   poller.control->ended.load(std::memory_order_acquire);
        });
    };
    while (!adopted()) {
        if (monotonic_ns() >= end_ns) {
            return false;
        }
        std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    return true;
}

/// Prepares the lines that `config` has for the poller and the poller lacks; null if there are
/// none.
std::unique_ptr<MoreLines> Appliance::more_lines(const FeedConfig& config, std::size_t poller,
                                                 Problems& problems) const {
    const PollerTask& task = *pollers_[poller].task;
    PollerPlan plan = plan_topology(config).pollers[poller];
    std::erase_if(plan.lines, [&](std::size_t line) {
        for (std::size_t i = 0; i < task.lines_count(); ++i) {
            if (task.line(i).number == config.lines[line].number) {
                return true;
            }
        }
        return false;
    });
    if (plan.lines.empty()) {
        return nullptr;
    }
    const std::size_t room = task.router().lines_max() - task.lines_count();
    if (recovery_.runs()) {
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

bool Appliance::give_settings(const FeedConfig& config, std::int64_t within_ns,
                              Problems& problems) {
    constexpr std::string_view stands =
        "a poller makes no loop steps: it applies the new config when it continues; reload again";
    if (!settings_taken(within_ns)) {
        add_problem(problems, "", std::string{stands});
        return false;  // the poller may still use the settings offered before
    }
    std::vector<std::unique_ptr<PollerSettings>> all;
    for (std::size_t i = 0; i < pollers_.size() && problems.empty(); ++i) {
        auto settings =
            std::make_unique<PollerSettings>(PollerSettings{config.arbitration.window_ns,
                                                            config.silence,
                                                            config.block_checksum,
                                                            config.test_symbols,
                                                            {},
                                                            more_lines(config, i, problems)});
        for (const std::size_t port : topology_.pollers[i].ports) {
            settings->sources.push_back(config.ports[port].sources);
        }
        all.push_back(std::move(settings));
    }
    if (!problems.empty()) {
        return false;
    }
    for (std::size_t i = 0; i < pollers_.size(); ++i) {
        pollers_[i].settings = std::move(all[i]);
        pollers_[i].task->settings().offer(*pollers_[i].settings);
    }
    if (!settings_taken(within_ns)) {
        add_problem(problems, "", std::string{stands});
        return false;
    }
    return true;
}

void Appliance::clear_maxima() {
    for (PollerThread& poller : pollers_) {
        poller.task->clear_maxima();
    }
    for (CoreThread& core : cores_) {
        core.core->clear_maxima();
    }
}

std::uint64_t Appliance::sleeps(std::size_t core) const {
    return cores_[core].bell ? cores_[core].bell->sleeps().read() : 0;
}

double Appliance::seconds() const {
    const std::int64_t started_ns = started_ns_.load(std::memory_order_relaxed);
    const std::int64_t stopped_ns = stopped_ns_.load(std::memory_order_relaxed);
    if (started_ns == 0) {
        return 0;
    }
    return static_cast<double>((stopped_ns != 0 ? stopped_ns : monotonic_ns()) - started_ns) / 1e9;
}

std::vector<const Actor*> Appliance::actors(std::string_view kind) const {
    std::vector<const Actor*> all;
    for (const CoreThread& core : cores_) {
        for (std::size_t i = 0; i < core.core->actors_count(); ++i) {
            if (core.core->actor(i).name() == kind) {
                all.push_back(&core.core->actor(i));
            }
        }
    }
    return all;
}

std::vector<std::string> Appliance::remarks() const {
    std::vector<std::string> all = remarks_;
    for (const PollerThread& poller : pollers_) {
        if (poller.control->misplaced.load(std::memory_order_relaxed)) {
            all.push_back(fmt::format("{}: the system refused cpu {}", poller.config.name,
                                      poller.config.cpu));
        }
        for (std::size_t i = 0; i < poller.task->ports_count(); ++i) {
            for (const std::string& remark : poller.task->input(i).port->remarks()) {
                all.push_back(
                    fmt::format("port {}: {}", poller.task->input(i).port->name(), remark));
            }
        }
    }
    if (recovery_.control.misplaced.load(std::memory_order_relaxed)) {
        all.push_back(fmt::format("recovery: the system refused cpu {}", config_.control_cpu));
    }
    if (control_misplaced_) {
        all.push_back(fmt::format("control: the system refused cpu {}", config_.control_cpu));
    }
    for (const CoreThread& core : cores_) {
        if (core.control->misplaced.load(std::memory_order_relaxed)) {
            all.push_back(
                fmt::format("{}: the system refused cpu {}", core.config.name, core.config.cpu));
        }
    }
    for (const CoreThread& core : cores_) {
        for (std::size_t i = 0; i < core.core->actors_count(); ++i) {
            for (const std::string& remark : core.core->actor(i).remarks()) {
                all.push_back(fmt::format("{}: {}", core.config.name, remark));
            }
        }
    }
    return all;
}

}  // namespace pinstrike::actors
