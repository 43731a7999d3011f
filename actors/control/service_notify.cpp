// path: cold
#include "actors/control/service_notify.h"

#include "nic/clock.h"

#include <fmt/format.h>

#include <vector>

namespace pinstrike::actors {
namespace {

using nic::monotonic_ns;

std::vector<std::uint64_t> steps_of(Appliance& appliance) {
    std::vector<std::uint64_t> steps;
    for (std::size_t i = 0; i < appliance.pollers_count(); ++i) {
        steps.push_back(appliance.poller(i).counters().steps.read());
    }
    for (std::size_t i = 0; i < appliance.cores_count(); ++i) {
        steps.push_back(appliance.core(i).counters().steps.read());
    }
    return steps;
}

}  // namespace

void ServiceNotify::ready(const CounterSnapshot& counters) {
    if (manager_.listens()) {
        manager_.notify("READY=1");
        send_status(counters);
    }
}

void ServiceNotify::reloading() {
    constexpr std::int64_t ns_per_us = 1000;
    // The time tells systemd whether this message belongs to the current reload or to an earlier
    // one.
    manager_.notify(fmt::format("RELOADING=1\nMONOTONIC_USEC={}", monotonic_ns() / ns_per_us));
}

void ServiceNotify::stopping() {
    // TimeoutStopSec limits a drain, not the watchdog.
    manager_.notify("STOPPING=1\nSTATUS=draining\nWATCHDOG=1");
}

void ServiceNotify::send_status(const CounterSnapshot& counters) {
    if (!manager_.listens()) {
        return;
    }
    const Totals totals = totals_of(counters);
    const double passed_s = counters.seconds - notified_s_;
    const double rate =
        passed_s > 0 ? static_cast<double>(totals.delivered - delivered_) / passed_s : 0;
    notified_s_ = counters.seconds;
    delivered_ = totals.delivered;
    manager_.notify(fmt::format(
        "STATUS={:.3f} M messages/s; {} of {} lines up; since the start {} delivered, {} lost, {} "
        "refused",
        rate / 1e6, totals.lines_up, totals.lines, totals.delivered, totals.lost, totals.refused));
}

/// Feeds the watchdog four times within its time, if every hot thread has made progress since the
/// last feed.
void ServiceNotify::step(Appliance& appliance) {
    constexpr std::int64_t feeds = 4;
    const std::int64_t now_ns = monotonic_ns();
    if (now_ns - fed_ns_.load(std::memory_order_relaxed) < patience_ns() / feeds ||
        !heartbeat_.beats(steps_of(appliance))) {
        return;
    }
    fed_ns_.store(now_ns, std::memory_order_relaxed);
    if (manager_.watchdog_ns()) {
        manager_.notify("WATCHDOG=1");
    }
}

/// The watchdog's time, or without a watchdog the time of the shipped unit.
std::int64_t ServiceNotify::patience_ns() const {
    constexpr std::int64_t default_ns = 10'000'000'000;
    return manager_.watchdog_ns().value_or(default_ns);
}

bool ServiceNotify::alive() const {
    const std::int64_t fed_ns = fed_ns_.load(std::memory_order_relaxed);
    return fed_ns != 0 && monotonic_ns() - fed_ns < patience_ns();
}

}  // namespace pinstrike::actors
