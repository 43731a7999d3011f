// path: cold
#include "actors/telemetry/counter_snapshot.h"

#include "actors/appliance/appliance.h"
#include "actors/threads/heap_guard.h"
#include "nic/multicast/reverse_path.h"
#include "nic/port_kind.h"

#include <algorithm>
#include <iterator>

namespace pinstrike::actors {
namespace {

/// Reads the parts before the whole, so that samples recorded meanwhile cannot make a part larger
/// than the whole.
void read_loop(LoopSnapshot& into, const LoopCounters& counters) {
    into.stops = counters.stops_ns.snapshot();
    into.away = counters.away_ns.snapshot();
    into.turns = counters.steps.read();
    into.busy_ns = counters.busy_ns.read();
    into.idle_ns = counters.idle_ns.read();
    into.longest_step_ns = counters.longest_step_ns.read();
}

/// Reads the affected samples before all samples, for the same reason.
StageSnapshot stage_snapshot(const Histogram& all, const Histogram& disturbed) {
    StageSnapshot stage;
    stage.disturbed = disturbed.snapshot();
    stage.all = all.snapshot();
    return stage;
}

QueueSnapshot queue_snapshot(const PollerTask& poller, std::size_t i,
                             const nic::PortConfig& config) {
    const nic::Port& port = poller.port(i);
    QueueSnapshot queue;
    queue.port = config.name;
    queue.burst_packets = config.burst_packets;
    queue.packets = port.counters().packets.read();
    queue.bytes = port.counters().bytes.read();
    queue.full_bursts = port.counters().full_bursts.read();
    queue.link_changes = port.counters().link_changes.read();
    queue.handed = poller.handed(i);
    queue.device = port.statistics();
    for (std::size_t drop = 0; drop < nic::Drop_count; ++drop) {
        queue.dropped[drop] = poller.drops(i).read(static_cast<nic::Drop>(drop));
    }
    queue.unknown_groups = poller.unknown_groups(i).most_frequent();
    return queue;
}

LineSnapshot line_snapshot(PollerTask& poller, std::size_t i) {
    feed::Arbiter& arbiter = poller.arbiter(i);
    LineSnapshot line;
    line.line = poller.line_number(i);
    line.counts = LineTotals{arbiter.counters()};
    for (const feed::Stream stream : {feed::Stream::a, feed::Stream::b}) {
        const auto at = static_cast<std::size_t>(stream);
        line.streams[at] = StreamTotals{arbiter.counters(stream)};
        line.leads[at] = poller.lead(i, stream).snapshot();
        line.states[at] = poller.watch(i).state(stream);
        line.received[at] = poller.watch(i).receives(stream);
        line.heard_ns[at] = static_cast<std::int64_t>(poller.watch(i).heard_ns(stream));
    }
    line.up = poller.line_up(i);
    line.down = poller.watch(i).down();
    for (std::size_t row = 0; row < poller.reject_rows().size(); ++row) {
        line.rejected.push_back(poller.rejects(i, row));
    }
    return line;
}

PollerSnapshot poller_snapshot(Appliance& appliance, std::size_t index) {
    PollerTask& poller = appliance.poller(index);
    const std::vector<std::size_t>& ports = appliance.topology().pollers[index].ports;
    PollerSnapshot snapshot;
    snapshot.name = poller.name();
    snapshot.cpu = appliance.config().pollers[index].cpu;
    read_loop(snapshot, poller.counters());
    snapshot.exchange_to_decoded =
        stage_snapshot(poller.counters().exchange_to_decoded_ns,
                       poller.counters().exchange_to_decoded_disturbed_ns);
    snapshot.reject_rows = poller.reject_rows();
    for (std::size_t i = 0; i < poller.ports_count(); ++i) {
        snapshot.queues.push_back(queue_snapshot(poller, i, appliance.config().ports[ports[i]]));
    }
    for (std::size_t i = 0; i < poller.lines_count(); ++i) {
        snapshot.lines.push_back(line_snapshot(poller, i));
    }
    return snapshot;
}

void add_busiest(std::vector<BusySeries>& busiest, const BusiestBoard& board) {
    if (const auto ranking = board.read()) {
        std::copy_if(ranking->begin(), ranking->end(), std::back_inserter(busiest),
                     [](const BusySeries& series) { return series.quotes > 0; });
    }
}

CoreSnapshot core_snapshot(Appliance& appliance, std::size_t index) {
    const Core& core = appliance.core(index);
    CoreSnapshot snapshot;
    snapshot.name = core.info().name;
    read_loop(snapshot, core.counters());
    snapshot.cpu = appliance.config().cores[index].cpu;
    snapshot.events = core.counters().events.read();
    snapshot.sleeps = appliance.sleeps(index);
    snapshot.receive_to_actor = stage_snapshot(core.counters().receive_to_actor_ns,
                                               core.counters().receive_to_actor_disturbed_ns);
    for (std::size_t i = 0; i < core.actors_count(); ++i) {
        const ActorCounters& counters = core.actor_counters(i);
        snapshot.actors.push_back(
            {std::string{core.actor(i).name()}, counters.events.read(), counters.batches.read(),
             stage_snapshot(counters.waiting_ns, counters.waiting_disturbed_ns),
             counters.service_ns.snapshot()});
        if (const BusiestBoard* board = core.actor(i).busiest()) {
            add_busiest(snapshot.busiest, *board);
        }
    }
    for (std::size_t i = 0; i < appliance.pollers_count(); ++i) {
        const Router& router = appliance.poller(i).router();
        const RingCounters& counters = router.counters(index);
        snapshot.rings.push_back({appliance.poller(i).name(), router.capacity(index),
                                  router.high_water(index).read(), counters.routed.read(),
                                  counters.refused.read(), counters.waits.read()});
    }
    return snapshot;
}

RecoverySnapshot recovery_snapshot(Appliance& appliance) {
    using feed::RecoveryCount;
    RecoverySnapshot snapshot;
    snapshot.failure = appliance.recovery_failure();
    if (appliance.recovery() != nullptr) {
        const feed::RecoveryCounters& counts = appliance.recovery()->recovery().counters();
        snapshot.abandoned = counts.read(RecoveryCount::abandoned);
        snapshot.never_asked = counts.read(RecoveryCount::never_asked);
        snapshot.untracked = counts.read(RecoveryCount::untracked);
        snapshot.repairs_dropped = counts.read(RecoveryCount::repairs_dropped);
    }
    for (std::size_t i = 0; i < appliance.pollers_count(); ++i) {
        const PollerTask& poller = appliance.poller(i);
        if (poller.repair_rings() != nullptr) {
            snapshot.notes_dropped += poller.repair_rings()->notes_dropped().read();
        }
        if (poller.history() != nullptr) {
            snapshot.not_kept += poller.history()->skipped().read();
        }
    }
    return snapshot;
}

}  // namespace

CounterSnapshot take_counter_snapshot(Appliance& appliance) {
    CounterSnapshot snapshot;
    snapshot.feed = appliance.config().name;
    snapshot.seconds = appliance.seconds();
    snapshot.clock_error_ns = appliance.clock().error_ns();
    snapshot.from_due = appliance.due().known();
    const auto& ports = appliance.config().ports;
    snapshot.live = std::none_of(ports.begin(), ports.end(), [](const nic::PortConfig& port) {
        return nic::row_of(port.kind).replays;
    });
    snapshot.hot_allocations = heap_guard::allocations.load(std::memory_order_relaxed);
    snapshot.reverse_path_drops = nic::reverse_path_drops(ports);
    snapshot.clock_steps = appliance.clock().steps_count();
    snapshot.calls = appliance.refused_calls();
    snapshot.recovery = recovery_snapshot(appliance);
    for (std::size_t i = 0; i < appliance.pollers_count(); ++i) {
        snapshot.pollers.push_back(poller_snapshot(appliance, i));
    }
    for (std::size_t i = 0; i < appliance.cores_count(); ++i) {
        snapshot.cores.push_back(core_snapshot(appliance, i));
    }
    return snapshot;
}

}  // namespace pinstrike::actors
