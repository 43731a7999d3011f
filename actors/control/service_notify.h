// path: cold
//
// What systemd is told of a running appliance: that it is ready, how it fares (`systemctl status`),
// and, while every hot thread advances, that it lives. The metrics endpoint tells the latter to who
// asks, also where there is no systemd.
#pragma once

#include "actors/appliance/appliance.h"
#include "actors/host/service/heartbeat.h"
#include "actors/host/service/service_manager.h"
#include "actors/telemetry/counter_snapshot.h"

#include <atomic>
#include <cstdint>

namespace pinstrike::command {

class ServiceLink {
  public:
    explicit ServiceLink(const actors::ServiceManager& manager) : manager_(manager) {}

    /// All threads run.
    void ready(const actors::CounterSnapshot& counters);

    /// About once a second: how it fares.
    void tell_status(const actors::CounterSnapshot& counters);

    /// Call often: feeds the watchdog if every hot thread takes turns.
    void step(actors::Appliance& appliance);

    /// The config is read anew; ready() says when it is done.
    void reloading();

    /// Draining may take a while; the watchdog is not for it.
    void stopping();

    /// The watchdog is fed: every hot thread advanced within the time that it waits, and so did
    /// the thread that calls step(). By any thread.
    [[nodiscard]] bool alive() const;

  private:
    [[nodiscard]] std::int64_t patience_ns() const;

    const actors::ServiceManager& manager_;
    actors::Heartbeat heartbeat_;
    double told_s_ = 0;
    /// By the monotonic clock; 0: never. Relaxed: nothing else is read by it.
    std::atomic<std::int64_t> fed_ns_ = 0;
    std::uint64_t delivered_ = 0;
};

}  // namespace pinstrike::command
