// path: hot
//
// Measures an actor while it runs: arrivals, waiting time, service time and throughput. Its
// executor measures if ExecutorOptions::clock_ns is set; otherwise these objects do not exist.
//
// No message costs a clock read. One in sample_every of the activations that found a message is
// timed, with two clock reads. One in sample_every of a sender's publishes has a time stamp, and
// the receiver reads the clock when it reaches the stamped message. Each message of a sampled
// activation counts with their average service time, and each message of a stamped publish with the
// waiting time of the first. The waiting time begins at the publish. It does not include the time
// before (mailbox.h).
//
// Arrivals are not counted separately, because many threads may send. They are the sum of handled
// messages and backlog. The backlog is updated in sampled activations and when the actor goes to
// sleep.
//
// Roles: the thread of the actor's executor writes, any thread reads. Order: relaxed
// (config/counter.h).
#pragma once

#include "config/counter.h"
#include "config/histogram.h"

#include <cstdint>

namespace pinstrike::actors::runtime {

struct ActorMeasurements {
    static constexpr std::uint32_t sample_every = 64;

    Counter handled;       ///< messages and timers
    Counter backlog;       ///< published and not taken at the last update
    Histogram waiting_ns;  ///< from the publish to the handler; sampled
    Histogram service_ns;  ///< time in the actor; sampled
};

/// The values of the figures at one time.
struct ActorReading {
    std::int64_t at_ns = 0;  ///< by a clock that the reader chooses
    std::uint64_t handled = 0;
    std::uint64_t backlog = 0;
    Histogram::Snapshot waiting_ns;
    Histogram::Snapshot service_ns;
};

/// The rates and times between two readings.
struct ActorRates {
    double arrivals_per_second = 0;
    double handled_per_second = 0;  ///< throughput
    double busy = 0;                ///< share of time in the actor: throughput x mean service
    Histogram::Snapshot waiting_ns;
    Histogram::Snapshot service_ns;
};

[[nodiscard]] inline ActorReading read(const ActorMeasurements& figures, std::int64_t at_ns) {
    return {at_ns, figures.handled.read(), figures.backlog.read(), figures.waiting_ns.snapshot(),
            figures.service_ns.snapshot()};
}

[[nodiscard]] inline ActorRates since(const ActorReading& now, const ActorReading& before) {
    const double seconds = static_cast<double>(now.at_ns - before.at_ns) * 1e-9;
    const auto handled = static_cast<double>(now.handled - before.handled);
    const double waits_more =
        static_cast<double>(now.backlog) - static_cast<double>(before.backlog);
    ActorRates rates;
    rates.waiting_ns = pinstrike::since(now.waiting_ns, before.waiting_ns);
    rates.service_ns = pinstrike::since(now.service_ns, before.service_ns);
    if (seconds > 0) {
        rates.handled_per_second = handled / seconds;
        rates.arrivals_per_second = (handled + waits_more) / seconds;
    }
    if (rates.service_ns.count != 0) {
        rates.busy = rates.handled_per_second * 1e-9 *
                     static_cast<double>(rates.service_ns.sum_ns) /
                     static_cast<double>(rates.service_ns.count);
    }
    return rates;
}

}  // namespace pinstrike::actors::runtime
