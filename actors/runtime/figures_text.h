// path: cold
//
// The figures of a program's own actors as text: a table for a terminal, and metrics in the
// exposition format of Prometheus. For cold threads only.
#pragma once

#include "actors/runtime/figures.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pinstrike::actors::runtime {

/// Actors with their names and last readings. The actors must outlive it. Used by one thread.
class FiguresText {
  public:
    /// `figures`: those of an actor whose executor has a clock (MailboxActor::figures()); null: the
    /// actor is listed as not measured.
    void add(std::string name, const ActorMeasurements* figures, std::int64_t now_ns);

    /// One row per actor, for the time since the last table or since the actor was added: arrivals
    /// and handled messages per second, the backlog, percentiles of waiting and service time in us,
    /// and the share of time in which the actor was busy.
    [[nodiscard]] std::string table(std::int64_t now_ns);

    /// The metrics of each actor since its start: runtime_actor_handled_total,
    /// runtime_actor_backlog_messages, and summaries of runtime_actor_waiting_seconds and
    /// runtime_actor_service_seconds. Each name begins with `prefix`. The rate of arrivals is
    /// rate(handled_total) + deriv(backlog_messages).
    [[nodiscard]] std::string metrics(const std::string& prefix = "") const;

  private:
    struct Row {
        std::string name;
        const ActorMeasurements* figures;
        ActorReading last;
    };

    std::vector<Row> rows_;
};

}  // namespace pinstrike::actors::runtime
