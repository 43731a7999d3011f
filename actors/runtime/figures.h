// path: hot
//
// What is known of an actor while it runs: how much comes, how long it waits, how long it takes,
// how much is done. Its core measures where CoreOptions::clock_ns is set; else nothing of this
// exists.
//
// No message costs a reading of the clock. Of the activations that found something, one in
// sample_every is timed, two readings each; of the publishes of a sender, one in as many bears a
// stamp, and the receiver reads the clock when it comes to that message. Each message of a sampled
// activation counts as long as they took on average; each of a stamped publish as long as its first
// one waited. Of a message, waiting begins when it is published: what it lay unpublished before
// (mailbox.h) is not in it.
//
// Arrivals are not counted by themselves, since many may send: they are what was handled and what
// waits. The latter is looked at in sampled activations and when the actor falls asleep.
//
// Roles: the thread of the actor's core writes, any thread reads. Order: relaxed
// (config/counter.h).
#pragma once

#include "config/counter.h"
#include "config/histogram.h"

#include <cstdint>

namespace pinstrike::actors::runtime {

struct ActorFigures {
    static constexpr std::uint32_t sample_every = 64;

    Counter handled;       ///< messages and timers
    Counter backlog;       ///< published and not taken, when last looked at
    Histogram waiting_ns;  ///< from its publication to its turn; sampled
    Histogram service_ns;  ///< in the actor; sampled
};

/// The figures at one time.
struct ActorReading {
    std::int64_t at_ns = 0;  ///< by the clock of the reader's choice
    std::uint64_t handled = 0;
    std::uint64_t backlog = 0;
    Histogram::Snapshot waiting_ns;
    Histogram::Snapshot service_ns;
};

/// What happened between two readings.
struct ActorRates {
    double arrivals_per_second = 0;
    double handled_per_second = 0;  ///< throughput
    double busy = 0;                ///< share of the time in the actor: throughput x mean service
    Histogram::Snapshot waiting_ns;
    Histogram::Snapshot service_ns;
};

[[nodiscard]] inline ActorReading read(const ActorFigures& figures, std::int64_t at_ns) {
    return {at_ns, figures.handled.read(), figures.backlog.read(), figures.waiting_ns.snapshot(),
            figures.service_ns.snapshot()};
}

[[nodiscard]] inline ActorRates since(const ActorReading& now, const ActorReading& before) {
    const double seconds = static_cast<double>(now.at_ns - before.at_ns) * 1e-9;
    const auto handled = static_cast<double>(now.handled - before.handled);
    const double waits_more =
        static_cast<double>(now.backlog) - static_cast<double>(before.backlog);
    ActorRates rates;
    rates.waiting_ns = actors::since(now.waiting_ns, before.waiting_ns);
    rates.service_ns = actors::since(now.service_ns, before.service_ns);
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
