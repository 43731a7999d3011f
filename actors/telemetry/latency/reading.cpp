// path: cold
#include "actors/telemetry/latency/reading.h"

#include "config/version.h"

#include <algorithm>

namespace pinstrike::actors {
namespace {

LoopReading loop_of(const LoopSnapshot& loop, const std::string& name, bool polls) {
    return {name, polls, loop.steps, loop.busy_ns + loop.idle_ns, loop.not_empty, loop.preemptions};
}

void add_core(LatencyReading& reading, const CoreSnapshot& core) {
    reading.loops.push_back(loop_of(core, core.name, false));
    reading.stages.push_back({core.receive_to_actor, receive_to_actor, core.name, ""});
    for (const ActorSnapshot& actor : core.actors) {
        reading.stages.push_back({actor.waiting, actor_waiting, core.name, actor.name});
        reading.stages.push_back({{actor.service, {}}, actor_service, core.name, actor.name});
    }
}

std::uint64_t less(std::uint64_t whole, std::uint64_t part) {
    return whole > part ? whole - part : 0;
}

/// The middle of a bucket, which represents its values.
std::uint64_t middle(std::size_t bucket) {
    const std::uint64_t lower = bucket == 0 ? 0 : Histogram::upper_bound(bucket - 1);
    return (lower + Histogram::upper_bound(bucket) - 1) / 2;
}

/// Adds `count` steps of `step_ns`: each nanosecond counts by its distance to the end of its step.
void add_waits(Histogram::Snapshot& waits, std::uint64_t step_ns, std::uint64_t count) {
    std::uint64_t lower = 0;
    for (std::size_t i = 0; i < Histogram::buckets_count && lower < step_ns; ++i) {
        const std::uint64_t upper = std::min(Histogram::upper_bound(i), step_ns);
        waits.buckets[i] += (upper - lower) * count;
        waits.count += (upper - lower) * count;
        lower = upper;
    }
    if (step_ns != 0 && count != 0) {
        waits.sum_ns += step_ns * step_ns / 2 * count;
        waits.highest_ns = std::max(waits.highest_ns, step_ns);
    }
}

}  // namespace

LatencyReading latency_of(const CounterSnapshot& counters) {
    LatencyReading reading;
    reading.feed = counters.feed;
    reading.version = version;
    reading.running_s = counters.seconds;
    reading.seconds = reading.running_s;
    reading.clock_error_s = static_cast<double>(counters.clock_error_ns) * 1e-9;
    reading.clock_steps = counters.clock_steps;
    reading.from_due = counters.from_due;
    for (const PollerSnapshot& poller : counters.pollers) {
        reading.loops.push_back(loop_of(poller, poller.name, true));
        reading.stages.push_back(
            {poller.exchange_to_decoded, exchange_to_decoded, poller.name, ""});
    }
    for (const CoreSnapshot& core : counters.cores) {
        add_core(reading, core);
    }
    return reading;
}

LatencyReading since(const LatencyReading& now, const LatencyReading& before) {
    LatencyReading part = now;
    part.seconds = now.running_s - before.running_s;
    part.clock_steps = less(now.clock_steps, before.clock_steps);
    for (StageReading& stage : part.stages) {
        for (const StageReading& old : before.stages) {
            if (old.stage == stage.stage && old.thread == stage.thread &&
                old.actor == stage.actor) {
                stage.all = since(stage.all, old.all);
                stage.preempted = since(stage.preempted, old.preempted);
            }
        }
    }
    for (LoopReading& loop : part.loops) {
        for (const LoopReading& old : before.loops) {
            if (old.thread == loop.thread) {
                loop.steps = less(loop.steps, old.steps);
                loop.looked_ns = less(loop.looked_ns, old.looked_ns);
                loop.not_empty = since(loop.not_empty, old.not_empty);
                loop.preemptions = since(loop.preemptions, old.preemptions);
            }
        }
    }
    return part;
}

Histogram::Snapshot without_preemption(const StageReading& stage) {
    return since(stage.all, stage.preempted);
}

Histogram::Snapshot wait_for_poll(const LoopReading& loop) {
    Histogram::Snapshot waits;
    for (std::size_t i = 0; i < Histogram::buckets_count; ++i) {
        if (loop.not_empty.buckets[i] != 0) {
            add_waits(waits, std::min(middle(i), loop.not_empty.highest_ns),
                      loop.not_empty.buckets[i]);
        }
    }
    // Empty polls are short, so all of them are assumed to be equally long.
    const std::uint64_t looks = less(loop.steps, loop.not_empty.count);
    if (looks != 0) {
        add_waits(waits, less(loop.looked_ns, loop.not_empty.sum_ns) / looks, looks);
    }
    return waits;
}

}  // namespace pinstrike::actors
