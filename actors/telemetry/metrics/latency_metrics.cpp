// path: cold
#include "actors/telemetry/metrics/latency_metrics.h"

#include "actors/telemetry/latency/reading.h"
#include "actors/telemetry/metrics/families.h"

#include <string>
#include <utility>

namespace pinstrike::actors {
namespace {

/// Adds the buckets, and the maximum, which the buckets have with a precision of 1/16 only.
void add(Families& out, Metric buckets, Metric highest, const Labels& labels,
         const Histogram::Snapshot& taken) {
    out.fine_histogram(buckets, labels, taken);
    out.value(highest, labels, static_cast<double>(taken.highest_ns) * 1e-9);
}

}  // namespace

std::vector<prometheus::MetricFamily> latency_metrics(const LatencyReading& reading) {
    Families out(reading.feed);
    out.value(Metric::build_info, {{"version", reading.version}}, 1);
    out.value(Metric::running_seconds, {}, reading.running_s);
    out.value(Metric::clock_error_seconds, {}, reading.clock_error_s);
    out.value(Metric::clock_steps_total, {}, static_cast<double>(reading.clock_steps));
    out.value(Metric::latency_from_due, {}, reading.from_due ? 1 : 0);
    for (const StageReading& stage : reading.stages) {
        Labels labels{{"stage", stage.stage}, {"thread", stage.thread}};
        if (!stage.actor.empty()) {
            labels.push_back({"actor", stage.actor});
        }
        add(out, Metric::fine_latency_seconds, Metric::fine_latency_highest_seconds, labels,
            stage.all);
        add(out, Metric::fine_latency_disturbed_seconds,
            Metric::fine_latency_disturbed_highest_seconds, labels, stage.preempted);
    }
    for (const LoopReading& loop : reading.loops) {
        const Labels labels{{"thread", loop.thread}, {"polls", loop.polls ? "1" : "0"}};
        out.value(Metric::loop_steps_total, labels, static_cast<double>(loop.turns));
        out.value(Metric::loop_seconds_total, labels, static_cast<double>(loop.looked_ns) * 1e-9);
        add(out, Metric::fine_loop_away_seconds, Metric::fine_loop_away_highest_seconds, labels,
            loop.away);
        add(out, Metric::fine_loop_stop_seconds, Metric::fine_loop_stop_highest_seconds, labels,
            loop.stops);
    }
    return out.take();
}

}  // namespace pinstrike::actors
