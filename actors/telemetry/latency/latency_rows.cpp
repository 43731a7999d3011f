// path: cold
#include "actors/telemetry/latency/latency_rows.h"

namespace pinstrike::actors {
namespace {

std::string words_of(const StageReading& stage, bool from_due) {
    if (stage.stage == exchange_to_decoded) {
        return from_due ? "due to decoded" : "exchange to decoded";
    }
    if (stage.stage == receive_to_actor) {
        return from_due ? "due to actor" : "receive to actor";
    }
    if (stage.stage == actor_waiting) {
        return stage.actor + ": waiting";
    }
    if (stage.stage == actor_service) {
        return stage.actor + ": service";
    }
    return stage.stage;
}

}  // namespace

std::string LatencyRow::title() const {
    return thread + " " + stage + (kind == Kind::without_preemption ? ", without preemption" : "");
}

std::vector<LatencyRow> latency_rows(const LatencyReading& reading) {
    std::vector<LatencyRow> rows;
    for (const LoopReading& loop : reading.loops) {
        if (loop.polls && !reading.from_due) {
            rows.push_back({"arrival to poll", loop.thread, "", LatencyRow::Kind::by_time,
                            wait_for_poll(loop)});
        }
    }
    for (const StageReading& stage : reading.stages) {
        const std::string words = words_of(stage, reading.from_due);
        rows.push_back({words, stage.thread, stage.actor, LatencyRow::Kind::all, stage.all});
        if (stage.stage != actor_service) {
            rows.push_back({words, stage.thread, stage.actor, LatencyRow::Kind::without_preemption,
                            without_preemption(stage)});
        }
    }
    for (const LoopReading& loop : reading.loops) {
        rows.push_back(
            {"preemption", loop.thread, "", LatencyRow::Kind::preemption, loop.preemptions});
    }
    return rows;
}

std::optional<std::uint64_t> percentile_ns(const LatencyRow& row, const Percentile& percentile) {
    if (row.taken.count < percentile.one_in) {
        return std::nullopt;
    }
    return row.taken.quantile_ns(percentile.share);
}

}  // namespace pinstrike::actors
