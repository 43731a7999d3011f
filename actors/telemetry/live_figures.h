// path: cold
//
// The figures of the live view and the service's status: sums of counters.
#pragma once

#include "actors/telemetry/counter_snapshot.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pinstrike::actors {

struct LineFigures {
    std::uint16_t line = 0;
    bool a_up = false;  ///< the stream was heard and is not silent
    bool b_up = false;
    feed::StreamsReceived received = feed::both_streams;
};

struct ThreadFigures {
    std::string name;
    std::uint64_t busy_ns = 0;
    std::uint64_t idle_ns = 0;
    std::uint64_t longest_step_ns = 0;
    std::uint64_t count = 0;  ///< packets of a poller, messages of a core
    bool polls = false;
};

/// An actor of a core.
struct ActorTotals {
    std::string name;          ///< "core0 book"
    std::uint64_t events = 0;  ///< data messages delivered to it
    Histogram::Snapshot waiting;
    Histogram::Snapshot service;  ///< of one call with a batch
};

struct RingFigures {
    std::string name;
    std::uint64_t high_water_records = 0;
    std::uint64_t capacity_records = 0;
};

/// Totals since the start.
struct LiveFigures {
    double seconds = 0;
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;
    std::uint64_t dropped = 0;   ///< packets, for any reason
    std::uint64_t missed = 0;    ///< packets lost by devices that count them
    std::uint64_t rejected = 0;  ///< messages that cannot be decoded
    std::uint64_t delivered = 0;
    std::uint64_t lost = 0;
    std::uint64_t gaps = 0;
    std::uint64_t repaired = 0;
    std::uint64_t refused = 0;  ///< messages refused by a full ring
    std::vector<LineFigures> lines;
    std::vector<ThreadFigures> threads;
    std::vector<ActorTotals> actors;
    std::vector<RingFigures> rings;
    std::vector<BusySeries> busiest;
    Histogram::Snapshot exchange_to_decoded;
    Histogram::Snapshot receive_to_actor;
};

[[nodiscard]] LiveFigures figures_of(const CounterSnapshot& counters);

}  // namespace pinstrike::actors
