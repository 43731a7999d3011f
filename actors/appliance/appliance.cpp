// path: cold
#include "actors/appliance/appliance.h"

#include "actors/threads/start_thread.h"
#include "nic/clock.h"
#include "nic/port_kind.h"

#include <fmt/format.h>

#include <chrono>
#include <exception>

namespace pinstrike::actors {
namespace {

using nic::monotonic_ns;

/// A thread that was never started is not joinable.
void join(ThreadControl& control) {
    if (control.thread.joinable()) {
        control.thread.join();
    }
}

void wait_for(const std::atomic<bool>& flag) {
    while (!flag.load(std::memory_order_acquire)) {
        std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
}

/// Null if segments are not compressed.
CompressorTask* compressor_of(const FeedParts& parts) {
    return parts.recorder.task ? parts.recorder.task->compressor() : nullptr;
}

/// The threads of the recorder finish by themselves, unless they ended with an error.
void finish_recorder(FeedParts& parts) {
    if (const std::string& failure = parts.recorder.compressor_control.failure; !failure.empty()) {
        parts.remarks.push_back(fmt::format("compressor: ended: {}", failure));
    }
    if (parts.recorder.control.failure.empty()) {
        return;
    }
    try {
        parts.recorder.task->finish(parts.clock.wall_ns());
    } catch (const std::exception& failure) {
        parts.remarks.push_back(fmt::format("recorder: not finished: {}", failure.what()));
    }
}

/// May fail again if the thread ended with an error. Then only the data of recovery is lost.
void finish_recovery(FeedParts& parts) {
    RecoveryThread& recovery = parts.recovery;
    try {
        if (recovery.peers) {
            recovery.peers->finish();
        }
        if (recovery.task) {
            recovery.task->finish();
        }
    } catch (const std::exception& failure) {
        parts.remarks.push_back(fmt::format("recovery: not finished: {}", failure.what()));
    }
}

}  // namespace

std::vector<RefusedCalls> Appliance::refused_calls() const {
    std::vector<RefusedCalls> all;
    for (const PollerThread& poller : parts_->pollers) {
        all.push_back(actors::refused_calls(poller.config.name, *poller.control));
    }
    for (const CoreThread& core : parts_->cores) {
        all.push_back(actors::refused_calls(core.config.name, *core.control));
    }
    return all;
}

std::unique_ptr<Appliance> Appliance::build(const FeedConfig& config, Problems& problems,
                                            FeedListeners listeners) {
    auto parts = make_parts(config, problems, std::move(listeners));
    return std::unique_ptr<Appliance>{parts ? new Appliance{std::move(parts)} : nullptr};
}

Appliance::~Appliance() {
    stop();
}

void Appliance::start(RecordedState recorded) {
    const bool live = !parts_->replays();
    if (parts_->recovery.earlier) {
        parts_->recovery.earlier->begin(std::move(recorded));
    }
    running_ = true;
    for (CoreThread& core : parts_->cores) {
        core.control->thread = start_thread([&core, this] {
            run_core(*core.core, core.config.cpu, core.waker.get(), parts_->clock, *core.control);
        });
    }
    for (const CoreThread& core : parts_->cores) {
        wait_for(core.control->started);
    }
    if (parts_->recovery.runs()) {
        parts_->recovery.control.thread = start_thread([this] {
            const RecoveryThread& recovery = parts_->recovery;
            run_recovery({recovery.task.get(), recovery.peers.get(), recovery.snapshots.get(),
                          recovery.loader.get(), recovery.earlier.get()},
                         parts_->config.control_cpu, parts_->clock, parts_->recovery.control);
        });
        wait_for(parts_->recovery.control.started);
    }
    if (parts_->recorder.task) {
        parts_->recorder.control.thread = start_thread([this] {
            run_recorder(*parts_->recorder.task, parts_->config.control_cpu, parts_->clock,
                         parts_->recorder.control);
        });
        wait_for(parts_->recorder.control.started);
    }
    if (CompressorTask* const compressor = compressor_of(*parts_)) {
        parts_->recorder.compressor_control.thread = start_thread([compressor, this] {
            run_compressor(*compressor, parts_->config.record.compress_cpu_percent,
                           parts_->config.control_cpu, parts_->clock,
                           parts_->recorder.compressor_control);
        });
        wait_for(parts_->recorder.compressor_control.started);
    }
    started_ns_.store(monotonic_ns(), std::memory_order_relaxed);
    for (PollerThread& poller : parts_->pollers) {
        poller.control->thread = start_thread([&poller, live, this] {
            run_poller(*poller.task, poller.config.cpu, poller.config.wait, live, parts_->clock,
                       *poller.control);
        });
    }
    control_misplaced_ = !bind_this_thread(parts_->config.control_cpu);
    if (parts_->publisher) {
        parts_->publisher->start();
    }
}

bool Appliance::input_ended() const {
    return std::all_of(parts_->pollers.begin(), parts_->pollers.end(),
                       [](const PollerThread& poller) {
                           return poller.control->ended.load(std::memory_order_acquire);
                       });
}

bool Appliance::pollers_end_within(std::int64_t within_ns) {
    if (!parts_->replays()) {
        return true;
    }
    for (PollerThread& poller : parts_->pollers) {
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
    if (parts_->recovery.runs()) {
        parts_->recovery.control.stop.store(true, std::memory_order_release);
        join(parts_->recovery.control);
    }
    for (PollerThread& poller : parts_->pollers) {
        poller.control->stop.store(true, std::memory_order_release);
    }
    for (PollerThread& poller : parts_->pollers) {
        join(*poller.control);
    }
    finish_recovery(*parts_);
    parts_->recorder.control.stop.store(true, std::memory_order_release);
    parts_->recorder.compressor_control.stop.store(true, std::memory_order_release);
    join(parts_->recorder.control);
    join(parts_->recorder.compressor_control);
    finish_recorder(*parts_);
    for (CoreThread& core : parts_->cores) {
        core.control->stop.store(true, std::memory_order_release);
        if (core.waker) {
            core.waker->wake();
        }
    }
    for (CoreThread& core : parts_->cores) {
        join(*core.control);
    }
    stopped_ns_.store(monotonic_ns(), std::memory_order_relaxed);
}

Appliance::RecoveryView Appliance::recovery() const {
    const auto failure_of = [](const ThreadControl& control) {
        const bool ended = control.ended.load(std::memory_order_acquire);
        return ended ? std::string_view{control.failure} : std::string_view{};
    };
    const RecoveryThread& recovery = parts_->recovery;
    const RecorderThread& recorder = parts_->recorder;
    return {recovery.runs(),
            recovery.task.get(),
            recovery.peers.get(),
            recovery.transfer.get(),
            recovery.loader.get(),
            recovery.earlier.get(),
            failure_of(recovery.control),
            recorder.task.get(),
            failure_of(recorder.control)};
}

std::vector<Appliance::ChangedPort> Appliance::housekeep() {
    parts_->clock.recalibrate();
    std::vector<ChangedPort> changed;
    for (const PollerThread& poller : parts_->pollers) {
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

void Appliance::clear_maxima() {
    for (PollerThread& poller : parts_->pollers) {
        poller.task->clear_maxima();
    }
    for (CoreThread& core : parts_->cores) {
        core.core->clear_maxima();
    }
}

std::uint64_t Appliance::sleeps(std::size_t core) const {
    return parts_->cores[core].waker ? parts_->cores[core].waker->sleeps().read() : 0;
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
    for (const CoreThread& core : parts_->cores) {
        for (std::size_t i = 0; i < core.core->actors_count(); ++i) {
            if (core.core->actor(i).name() == kind) {
                all.push_back(&core.core->actor(i));
            }
        }
    }
    return all;
}

std::vector<std::string> Appliance::remarks() const {
    std::vector<std::string> all = parts_->remarks;
    const auto note_place = [&all](const std::string& thread, CpuIndex cpu,
                                   const ThreadControl& control) {
        if (control.misplaced.load(std::memory_order_relaxed)) {
            all.push_back(fmt::format("{}: the system refused cpu {}", thread, cpu));
        }
    };
    if (parts_->publisher) {
        for (std::string& remark : parts_->publisher->file().remarks()) {
            all.push_back(std::move(remark));
        }
    }
    for (const PollerThread& poller : parts_->pollers) {
        note_place(poller.config.name, poller.config.cpu, *poller.control);
        for (std::size_t i = 0; i < poller.task->ports_count(); ++i) {
            for (const std::string& remark : poller.task->input(i).port->remarks()) {
                all.push_back(
                    fmt::format("port {}: {}", poller.task->input(i).port->name(), remark));
            }
        }
    }
    note_place("recovery", parts_->config.control_cpu, parts_->recovery.control);
    note_place("recorder", parts_->config.control_cpu, parts_->recorder.control);
    if (control_misplaced_) {
        all.push_back(
            fmt::format("control: the system refused cpu {}", parts_->config.control_cpu));
    }
    for (const CoreThread& core : parts_->cores) {
        note_place(core.config.name, core.config.cpu, *core.control);
    }
    for (const CoreThread& core : parts_->cores) {
        for (std::size_t i = 0; i < core.core->actors_count(); ++i) {
            for (const std::string& remark : core.core->actor(i).remarks()) {
                all.push_back(fmt::format("{}: {}", core.config.name, remark));
            }
        }
    }
    return all;
}

}  // namespace pinstrike::actors
