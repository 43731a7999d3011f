// path: cold
#include "actors/control/service_notify.h"

#include "feed/arbitration/line_counts.h"

#include <fmt/format.h>

#include <chrono>
#include <string>
#include <vector>

namespace pinstrike::command {
namespace {

struct Totals {
    std::uint64_t delivered = 0;
    std::uint64_t lost = 0;
    std::uint64_t refused = 0;
    std::size_t lines = 0;
    std::size_t lines_up = 0;
};

Totals totals_of(actors::Appliance& appliance) {
    Totals totals;
    for (std::size_t i = 0; i < appliance.pollers_count(); ++i) {
        actors::PollerTask& poller = appliance.poller(i);
        for (std::size_t line = 0; line < poller.lines_count(); ++line) {
            const feed::LineCounters& counters = poller.arbiter(line).counters();
            totals.delivered += counters.read(feed::LineCount::delivered);
            totals.lost += counters.read(feed::LineCount::lost);
            totals.lines += 1;
            totals.lines_up += poller.line_up(line) ? 1 : 0;
        }
        for (std::size_t core = 0; core < appliance.cores_count(); ++core) {
            totals.refused += poller.router().counters(core).refused.read();
        }
    }
    return totals;
}

std::int64_t monotonic_ns() {
    return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::vector<std::uint64_t> turns_of(actors::Appliance& appliance) {
    std::vector<std::uint64_t> turns;
    for (std::size_t i = 0; i < appliance.pollers_count(); ++i) {
        turns.push_back(appliance.poller(i).counters().steps.read());
    }
    for (std::size_t i = 0; i < appliance.cores_count(); ++i) {
        turns.push_back(appliance.core(i).counters().steps.read());
    }
    return turns;
}

}  // namespace

void ServiceLink::ready(actors::Appliance& appliance) {
    if (manager_.listens()) {
        manager_.notify("READY=1");
        tell_status(appliance);
    }
}

void ServiceLink::step(actors::Appliance& appliance) {
    constexpr double status_s = 1;
    if (manager_.listens() && appliance.seconds() - told_s_ >= status_s) {
        tell_status(appliance);
    }
    feed_watchdog(appliance);
}

void ServiceLink::reloading() {
    constexpr std::int64_t ns_per_us = 1000;
    // Systemd tells by the time whether the word is of this reload or one before.
    manager_.notify(fmt::format("RELOADING=1\nMONOTONIC_USEC={}", monotonic_ns() / ns_per_us));
}

void ServiceLink::stopping() {
    // A drain ends by itself: the time for it is TimeoutStopSec's.
    manager_.notify("STOPPING=1\nSTATUS=draining\nWATCHDOG=1");
}

void ServiceLink::tell_status(actors::Appliance& appliance) {
    const double now_s = appliance.seconds();
    const Totals totals = totals_of(appliance);
    const double passed_s = now_s - told_s_;
    const double rate =
        passed_s > 0 ? static_cast<double>(totals.delivered - delivered_) / passed_s : 0;
    told_s_ = now_s;
    delivered_ = totals.delivered;
    manager_.notify(fmt::format(
        "STATUS={:.3f} M messages/s; {} of {} lines up; since the start {} delivered, {} lost, {} "
        "refused",
        rate / 1e6, totals.lines_up, totals.lines, totals.delivered, totals.lost, totals.refused));
}

/// Four times in the time that the watchdog waits, if each hot thread took a turn since.
void ServiceLink::feed_watchdog(actors::Appliance& appliance) {
    constexpr std::int64_t feeds = 4;
    const std::int64_t now_ns = monotonic_ns();
    if (now_ns - fed_ns_.load(std::memory_order_relaxed) < patience_ns() / feeds ||
        !heartbeat_.beats(turns_of(appliance))) {
        return;
    }
    fed_ns_.store(now_ns, std::memory_order_relaxed);
    if (manager_.watchdog_ns()) {
        manager_.notify("WATCHDOG=1");
    }
}

/// Without a watchdog as long as that of the shipped unit.
std::int64_t ServiceLink::patience_ns() const {
    constexpr std::int64_t default_ns = 10'000'000'000;
    return manager_.watchdog_ns().value_or(default_ns);
}

bool ServiceLink::alive() const {
    const std::int64_t fed_ns = fed_ns_.load(std::memory_order_relaxed);
    return fed_ns != 0 && monotonic_ns() - fed_ns < patience_ns();
}

}  // namespace pinstrike::command
