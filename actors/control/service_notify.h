// path: cold
//
// Notifies systemd of a running appliance: that it is ready, its status (`systemctl status`), and
// that it makes progress, as long as every hot thread does. The metrics endpoint reports progress
// too, also without systemd.
#pragma once

#include "actors/appliance/appliance.h"
#include "actors/host/service/heartbeat.h"
#include "actors/host/service/service_manager.h"
#include "actors/telemetry/counter_snapshot.h"

#include <atomic>
#include <cstdint>

namespace pinstrike::actors {

class ServiceNotify {
  public:
    explicit ServiceNotify(const ServiceManager& manager) : manager_(manager) {}

    /// All threads run.
    void ready(const CounterSnapshot& counters);

    /// Sends the status line. To be called about once a second.
    void send_status(const CounterSnapshot& counters);

    /// Must be called often. Feeds the watchdog if every hot thread makes progress.
    void step(Appliance& appliance);

    /// A reload begins; ready() ends it.
    void reloading();

    /// Draining begins. It may take a while, and the watchdog is not meant to limit it.
    void stopping();

    /// Any thread. True if, within the watchdog's time, every hot thread made progress and step()
    /// was called.
    [[nodiscard]] bool alive() const;

  private:
    [[nodiscard]] std::int64_t patience_ns() const;

    const ServiceManager& manager_;
    Heartbeat heartbeat_;
    double notified_s_ = 0;
    /// Monotonic time of the last feed; 0: never. Relaxed order is enough, because no other data
    /// depends on it.
    std::atomic<std::int64_t> fed_ns_ = 0;
    std::uint64_t delivered_ = 0;
};

}  // namespace pinstrike::actors
