// path: cold
#include "actors/telemetry/log/snapshot.h"

#include "actors/threads/heap_guard.h"
#include "nic/multicast/reverse_path.h"

#include <algorithm>

namespace pinstrike::actors {
namespace {

QueueSight queue_sight(const PollerTask& poller, std::size_t i, const nic::PortConfig& config) {
    const nic::Port& port = poller.port(i);
    QueueSight queue;
    queue.port = config.name;
    queue.burst_packets = config.burst_packets;
    queue.packets = port.counters().packets.read();
    queue.full_bursts = port.counters().full_bursts.read();
    queue.link_changes = port.counters().link_changes.read();
    queue.device = port.statistics();
    for (std::size_t drop = 0; drop < nic::Drop_count; ++drop) {
        queue.dropped[drop] = poller.drops(i).read(static_cast<nic::Drop>(drop));
    }
    queue.unknown_groups = poller.unknown_groups(i).most_frequent();
    return queue;
}

LineSight line_sight(PollerTask& poller, std::size_t i) {
    using feed::LineCount;
    feed::Arbiter& arbiter = poller.arbiter(i);
    LineSight line;
    line.line = poller.line_number(i);
    for (const feed::Stream stream : {feed::Stream::a, feed::Stream::b}) {
        const auto at = static_cast<std::size_t>(stream);
        line.packets[at] = arbiter.counters(stream).read(feed::StreamCount::packets);
        line.states[at] = poller.watch(i).state(stream);
        line.received[at] = poller.watch(i).receives(stream);
        line.heard_ns[at] = static_cast<std::int64_t>(poller.watch(i).heard_ns(stream));
    }
    line.down = poller.watch(i).down();
    line.gaps = arbiter.counters().read(LineCount::gaps);
    line.lost = arbiter.counters().read(LineCount::lost);
    line.late = arbiter.counters().read(LineCount::late);
    line.repaired = arbiter.counters().read(LineCount::repaired);
    line.resets_inferred = arbiter.counters().read(LineCount::resets_inferred);
    for (std::size_t row = 0; row < poller.reject_rows().size(); ++row) {
        line.rejected.push_back(poller.rejects(i, row));
    }
    return line;
}

PollerSight poller_sight(Appliance& appliance, std::size_t index) {
    PollerTask& poller = appliance.poller(index);
    const std::vector<std::size_t>& ports = appliance.topology().pollers[index].ports;
    PollerSight sight;
    sight.name = poller.name();
    sight.turns = poller.counters().steps.read();
    sight.busy_ns = poller.counters().busy_ns.read();
    sight.idle_ns = poller.counters().idle_ns.read();
    sight.reject_rows = poller.reject_rows();
    for (std::size_t i = 0; i < poller.ports_count(); ++i) {
        sight.queues.push_back(queue_sight(poller, i, appliance.config().ports[ports[i]]));
    }
    for (std::size_t i = 0; i < poller.lines_count(); ++i) {
        sight.lines.push_back(line_sight(poller, i));
    }
    return sight;
}

CoreSight core_sight(Appliance& appliance, std::size_t index) {
    const Core& core = appliance.core(index);
    CoreSight sight;
    sight.name = core.info().name;
    sight.turns = core.counters().steps.read();
    sight.busy_ns = core.counters().busy_ns.read();
    sight.idle_ns = core.counters().idle_ns.read();
    for (std::size_t i = 0; i < core.actors_count(); ++i) {
        sight.actors.push_back({std::string{core.actor(i).name()},
                                core.actor_counters(i).service_ns.snapshot().sum_ns});
    }
    for (std::size_t i = 0; i < appliance.pollers_count(); ++i) {
        const PollerTask& poller = appliance.poller(i);
        sight.rings.push_back({poller.name(), poller.router().capacity(index),
                               poller.router().counters(index).refused.read()});
    }
    return sight;
}

RecoverySight recovery_sight(Appliance& appliance) {
    using feed::RecoveryCount;
    RecoverySight sight;
    sight.failure = appliance.recovery_failure();
    if (appliance.recovery() != nullptr) {
        const feed::RecoveryCounters& counts = appliance.recovery()->recovery().counters();
        sight.abandoned = counts.read(RecoveryCount::abandoned);
        sight.never_asked = counts.read(RecoveryCount::never_asked);
        sight.untracked = counts.read(RecoveryCount::untracked);
        sight.repairs_dropped = counts.read(RecoveryCount::repairs_dropped);
    }
    for (std::size_t i = 0; i < appliance.pollers_count(); ++i) {
        const PollerTask& poller = appliance.poller(i);
        if (poller.roads() != nullptr) {
            sight.notes_dropped += poller.roads()->notes_dropped().read();
        }
        if (poller.history() != nullptr) {
            sight.not_kept += poller.history()->skipped().read();
        }
    }
    return sight;
}

}  // namespace

Sight take_sight(Appliance& appliance) {
    Sight sight;
    sight.seconds = appliance.seconds();
    const auto& ports = appliance.config().ports;
    sight.live = std::none_of(ports.begin(), ports.end(), [](const nic::PortConfig& port) {
        return port.kind == nic::PortKind::pcap;
    });
    sight.hot_allocations = heap_guard::allocations.load(std::memory_order_relaxed);
    sight.reverse_path_drops = nic::reverse_path_drops(ports);
    sight.clock_steps = appliance.clock().steps_count();
    sight.calls = appliance.refused_calls();
    sight.recovery = recovery_sight(appliance);
    for (std::size_t i = 0; i < appliance.pollers_count(); ++i) {
        sight.pollers.push_back(poller_sight(appliance, i));
    }
    for (std::size_t i = 0; i < appliance.cores_count(); ++i) {
        sight.cores.push_back(core_sight(appliance, i));
    }
    return sight;
}

}  // namespace pinstrike::actors
