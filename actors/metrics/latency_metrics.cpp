// path: cold
#include "actors/metrics/latency_metrics.h"

#include "actors/latency/reading.h"
#include "actors/metrics/families.h"

#include <string>
#include <utility>

namespace pinstrike::actors {
namespace {

/// The buckets, and the highest value, which they know to 1/16 only.
void add(Families& out, const std::string& name, const char* help, const Labels& labels,
         const Histogram::Snapshot& taken) {
    out.fine_histogram(name + "_seconds", help, labels, taken);
    out.gauge(name + "_highest_seconds", "The highest value of these", labels,
              static_cast<double>(taken.highest_ns) * 1e-9);
}

}  // namespace

std::vector<prometheus::MetricFamily> latency_metrics(const LatencyReading& reading) {
    Families out(reading.feed);
    out.gauge("build_info", "Always 1; what is running", {{"version", reading.version}}, 1);
    out.gauge("running_seconds", "Since the pollers started", {}, reading.running_s);
    out.gauge("clock_error_seconds", "How far the program's clock may be off the machine's", {},
              reading.clock_error_s);
    out.counter("clock_steps_total", "Times that the machine's clock was seen to jump", {},
                static_cast<double>(reading.clock_steps));
    out.gauge("latency_from_due", "1: a replay, measured from when packets were due", {},
              reading.from_due ? 1 : 0);
    for (const StageReading& stage : reading.stages) {
        Labels labels{{"stage", stage.stage}, {"thread", stage.thread}};
        if (!stage.actor.empty()) {
            labels.push_back({"actor", stage.actor});
        }
        add(out, "fine_latency", "By stage, in all buckets", labels, stage.all);
        add(out, "fine_latency_disturbed", "Of these, those that overlap a stop of the machine",
            labels, stage.disturbed);
    }
    for (const LoopReading& loop : reading.loops) {
        const Labels labels{{"thread", loop.thread}, {"polls", loop.polls ? "1" : "0"}};
        out.counter("loop_steps_total", "Turns of a poll or actor thread's loop", labels,
                    static_cast<double>(loop.turns));
        out.counter("loop_seconds_total", "The time of all turns", labels,
                    static_cast<double>(loop.looked_ns) * 1e-9);
        add(out, "fine_loop_away", "Turns that were not just an empty look", labels, loop.away);
        add(out, "fine_loop_stop", "Of these, stops of the machine", labels, loop.stops);
    }
    return out.take();
}

}  // namespace pinstrike::actors
