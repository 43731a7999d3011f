// path: cold
//
// The figures of a program's own actors as text: a table for a terminal, and metrics in the
// exposition format of Prometheus, for whatever serves them. Cold threads only.
#pragma once

#include "actors/runtime/figures.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace pinstrike::actors::runtime {

/// Actors by name, and how each was read last. Actors outlive it. One thread.
class FiguresText {
  public:
    /// `figures`: those of an actor whose core has a clock (Actor::figures()); null: told as not
    /// measured.
    void add(std::string name, const ActorFigures* figures, std::int64_t now_ns);

    /// A row for each actor, of what happened since the last table, or since it was added: arrivals
    /// and messages handled a second, the backlog, the percentiles of waiting and service in us,
    /// and which share of the time it was busy.
    [[nodiscard]] std::string table(std::int64_t now_ns);

    /// Of each actor since its start: runtime_actor_handled_total, runtime_actor_backlog_messages,
    /// and summaries of runtime_actor_waiting_seconds and runtime_actor_service_seconds, under
    /// names that begin with `prefix`. The rate of arrivals is
    /// rate(handled_total) + deriv(backlog_messages).
    [[nodiscard]] std::string metrics(const std::string& prefix = "") const;

  private:
    struct Row {
        std::string name;
        const ActorFigures* figures;
        ActorReading last;
    };

    std::vector<Row> rows_;
};

}  // namespace pinstrike::actors::runtime
