// path: cold
#include "actors/telemetry/counter_snapshot.h"

#include "actors/appliance/appliance.h"
#include "actors/threads/heap_guard.h"
#include "config/mistake.h"
#include "nic/multicast/reverse_path.h"
#include "nic/port_kind.h"

#include <algorithm>
#include <iterator>

namespace pinstrike::actors {
namespace {

/// Reads the parts before the whole, so that samples recorded meanwhile cannot make a part larger
/// than the whole.
void read_loop(LoopSnapshot& into, const LoopCounters& counters) {
    into.preemptions = counters.preemptions_ns.snapshot();
    into.not_empty = counters.not_empty_ns.snapshot();
    into.steps = counters.steps.read();
    into.busy_ns = counters.busy_ns.read();
    into.idle_ns = counters.idle_ns.read();
    into.longest_step_ns = counters.longest_step_ns.read();
}

/// Reads the affected samples before all samples, for the same reason.
StageSnapshot stage_snapshot(const Histogram& all, const Histogram& preempted) {
    StageSnapshot stage;
    stage.preempted = preempted.snapshot();
    stage.all = all.snapshot();
    return stage;
}

QueueSnapshot queue_snapshot(const PollerInput& input, Running running) {
    const nic::Port& port = *input.port;
    QueueSnapshot queue;
    queue.name = queue.port = port.name();
    queue.counts = port.counters();
    queue.to_lines = input.to_lines.read();
    queue.device = port.statistics();
    if (planted(Mistake::account)) {
        queue.device.missed = 0;
    }
    queue.dropped = input.drops;
    queue.unknown_groups = input.unknown_groups.most_frequent();
    queue.replays = port.replays();
    if (running == Running::stopped) {
        queue.exhausted = port.exhausted();
        queue.unread = port.unread();
    }
    return queue;
}

LineSnapshot line_snapshot(PollerTask& poller, std::size_t i, Running running) {
    PollerLine& state = poller.line(i);
    feed::Arbiter& arbiter = state.arbiter;
    LineSnapshot line;
    line.line = state.number;
    line.counts = LineTotals{arbiter.counters()};
    line.left_out = arbiter.left_out_count().read();
    for (const feed::Stream stream : {feed::Stream::a, feed::Stream::b}) {
        const auto at = static_cast<std::size_t>(stream);
        line.streams[at] = StreamTotals{arbiter.counters(stream)};
        line.skews[at] = state.skew.of(stream).snapshot();
        line.states[at] = state.watch.state(stream);
        line.received[at] = state.watch.receives(stream);
        line.heard_ns[at] = static_cast<std::int64_t>(state.watch.heard_ns(stream));
    }
    line.up = state.up();
    line.down = state.watch.down();
    line.watched = state.watch.is_watched();
    line.retransmission_packets = state.retransmission_packets.read();
    if (running == Running::stopped) {
        for (const feed::Arbiter::NumberRange& gap : arbiter.gaps()) {
            line.gaps.emplace_back(gap.first, gap.last);
        }
    }
    for (std::size_t row = 0; row < poller.reject_rows().size(); ++row) {
        line.rejected.push_back(poller.rejects(i, row));
    }
    return line;
}

RingSnapshot ring_snapshot(const PollerTask& poller, std::size_t core, const std::string& name) {
    const Router& router = poller.router();
    return {.from = poller.name(),
            .to = name,
            .capacity_records = router.capacity(core),
            .high_water_records = router.high_water(core).read(),
            .counts = router.counters(core),
            .published_records = router.published(core)};
}

ActorSnapshot actor_snapshot(const Core& core, std::size_t i, Running running) {
    const ActorCounters& counters = core.actor_counters(i);
    const Actor& actor = core.actor(i);
    return {.name = std::string{actor.name()},
            .events = counters.events.read(),
            .batches = counters.batches.read(),
            .waiting = stage_snapshot(counters.waiting_ns, counters.waiting_preempted_ns),
            .service = counters.service_ns.snapshot(),
            .figures = actor.figures(),
            .account_rows =
                running == Running::stopped ? actor.account_rows() : std::vector<AccountRow>{}};
}

RecoverySnapshot recovery_snapshot(Appliance& appliance) {
    const Appliance::RecoveryView view = appliance.recovery();
    RecoverySnapshot snapshot;
    snapshot.failure = view.failure;
    snapshot.has_thread = view.runs;
    if (view.task != nullptr) {
        const feed::Recovery& recovery = view.task->recovery();
        snapshot.counts = recovery.counters();
        for (std::size_t i = 0; i < recovery.sources_count(); ++i) {
            snapshot.sources.emplace_back(recovery.source(i).name(), recovery.refused(i));
        }
    }
    return snapshot;
}

PeersSnapshot peers_snapshot(Appliance& appliance) {
    PeersSnapshot snapshot;
    const Appliance::RecoveryView view = appliance.recovery();
    const peer::PeerTask* const task = view.peers;
    if (task == nullptr) {
        return snapshot;
    }
    if (const feed::History* const history = task->history()) {
        snapshot.history = {history->counters(), history->blocks(), history->used_bytes(),
                            history->oldest_ts_ns()};
    }
    if (const peer::Server* const server = task->peers()->server()) {
        const peer::ServerCounters& counters = server->counters();
        snapshot.server = {counters.counts, counters.refusals, counters.ends,
                           server->connections()};
    }
    for (const peer::ClientStatus& client : task->peers()->clients()) {
        const peer::ClientCounters& counters = client.counters;
        snapshot.clients.push_back({client.peer, client.connected.read() != 0, counters.counts,
                                    counters.drops, counters.refusals, counters.why,
                                    counters.ends});
    }
    if (view.transfer != nullptr) {
        snapshot.state = view.transfer->counts();
        snapshot.state_whole = view.transfer->whole().read() != 0;
    }
    return snapshot;
}

PollerSnapshot poller_snapshot(Appliance& appliance, std::size_t index,
                               std::span<const std::string> cores, Running running) {
    const std::vector<std::size_t>& ports = appliance.topology().pollers[index].ports;
    PollerSnapshot snapshot = take_poller_snapshot(appliance.poller(index), cores, running);
    snapshot.cpu = appliance.config().pollers[index].cpu;
    for (std::size_t i = 0; i < snapshot.queues.size(); ++i) {
        const nic::PortConfig& port = appliance.config().ports[ports[i]];
        snapshot.queues[i].port = port.name;
        snapshot.queues[i].burst_packets = port.burst_packets;
    }
    return snapshot;
}

CoreSnapshot core_snapshot(Appliance& appliance, std::size_t index,
                           std::span<const PollerSnapshot> pollers, Running running) {
    CoreSnapshot snapshot = take_core_snapshot(appliance.core(index), running);
    snapshot.cpu = appliance.config().cores[index].cpu;
    snapshot.sleeps = appliance.sleeps(index);
    for (const PollerSnapshot& poller : pollers) {
        snapshot.rings.push_back(poller.rings[index]);
    }
    return snapshot;
}

void read_program(CounterSnapshot& snapshot, Appliance& appliance) {
    const nic::Clock& clock = appliance.clock();
    snapshot.feed = appliance.config().name;
    snapshot.seconds = appliance.seconds();
    snapshot.clock_error_ns = clock.error_ns();
    snapshot.clock_steps = clock.steps_count();
    if (clock.uses_tsc()) {
        snapshot.clock_tick_ns = clock.tick_ns();
    }
    snapshot.from_due = appliance.due().known();
    const auto& ports = appliance.config().ports;
    snapshot.live = std::none_of(ports.begin(), ports.end(), [](const nic::PortConfig& port) {
        return nic::row_of(port.kind).replays;
    });
    snapshot.hot_allocations = heap_guard::allocations.load(std::memory_order_relaxed);
    snapshot.reverse_path_drops = nic::reverse_path_drops(ports);
    snapshot.reloads = appliance.control_counts().reloads;
    snapshot.reload_refused = appliance.control_counts().reloads.last_refused.read() != 0;
    snapshot.admin_untaken = appliance.control_counts().admin_untaken.read();
    if (!appliance.series().file.empty()) {
        snapshot.series_map = appliance.series().rows;
    }
    snapshot.calls = appliance.refused_calls();
}

std::optional<PublishedSnapshot> published_snapshot(const Appliance& appliance) {
    const MemoryFile* const file = appliance.published();
    if (file == nullptr) {
        return std::nullopt;
    }
    PublishedSnapshot published{file->bytes(), file->start_ns(), file->woken(), {}};
    if (appliance.config().publish.stream) {
        for (std::size_t core = 0; core < appliance.cores_count(); ++core) {
            published.stream_records.push_back(file->stream_records(core));
        }
    }
    return published;
}

std::optional<RecorderSnapshot> recorder_snapshot(const Appliance& appliance) {
    const Appliance::RecoveryView view = appliance.recovery();
    if (view.recorder == nullptr) {
        return std::nullopt;
    }
    const RecorderCounters& counters = view.recorder->counters();
    const CompressorTask* const compressor = view.recorder->compressor();
    return RecorderSnapshot{counters,
                            static_cast<int>(counters.error.read()),
                            RowTotals<MissingReason, MissingReason_count>{counters.missing},
                            counters.longest_write_ns.read(),
                            counters.longest_pause_ns.read(),
                            std::string{view.recorder_failure},
                            view.earlier == nullptr ? 0 : view.earlier->succeeded().read(),
                            view.earlier == nullptr ? 0 : view.earlier->failed().read(),
                            view.earlier == nullptr ? 0 : view.earlier->taken().read(),
                            counters.snapshot_ns.read(),
                            counters.snapshot_series.read(),
                            static_cast<int>(counters.snapshot_error.read()),
                            appliance.config().record.snapshot_interval_ns,
                            compressor == nullptr ? "" : compressor->failure()};
}

}  // namespace

PollerSnapshot take_poller_snapshot(PollerTask& poller, std::span<const std::string> cores,
                                    Running running) {
    PollerSnapshot snapshot;
    snapshot.name = poller.name();
    read_loop(snapshot, poller.counters());
    snapshot.exchange_to_decoded =
        stage_snapshot(poller.counters().exchange_to_decoded_ns,
                       poller.counters().exchange_to_decoded_preempted_ns);
    snapshot.reject_rows = poller.reject_rows();
    for (std::size_t i = 0; i < poller.ports_count(); ++i) {
        snapshot.queues.push_back(queue_snapshot(poller.input(i), running));
    }
    for (std::size_t i = 0; i < poller.lines_count(); ++i) {
        snapshot.lines.push_back(line_snapshot(poller, i, running));
    }
    for (std::size_t i = 0; i < cores.size(); ++i) {
        snapshot.rings.push_back(ring_snapshot(poller, i, cores[i]));
    }
    if (poller.repair_rings() != nullptr) {
        snapshot.notes_dropped = poller.repair_rings()->notes_dropped().read();
        snapshot.repairs_taken = poller.repair_rings()->repairs_read().read();
    }
    if (poller.history() != nullptr) {
        snapshot.history_skipped = poller.history()->skipped().read();
    }
    if (poller.recorder() != nullptr) {
        snapshot.recorded = poller.recorder()->recorded().read();
        snapshot.not_recorded = poller.recorder()->not_recorded().read();
        snapshot.filtered = poller.recorder()->filtered().read();
    }
    return snapshot;
}

CoreSnapshot take_core_snapshot(const Core& core, Running running) {
    const CoreCounters& counters = core.counters();
    CoreSnapshot snapshot;
    snapshot.name = core.info().name;
    read_loop(snapshot, counters);
    snapshot.counts = CoreTotals{counters};
    snapshot.receive_to_actor =
        stage_snapshot(counters.receive_to_actor_ns, counters.receive_to_actor_preempted_ns);
    for (std::size_t i = 0; i < core.actors_count(); ++i) {
        snapshot.actors.push_back(actor_snapshot(core, i, running));
        std::ranges::copy(core.actor(i).busiest(), std::back_inserter(snapshot.busiest));
    }
    return snapshot;
}

CounterSnapshot take_counter_snapshot(Appliance& appliance, Running running) {
    CounterSnapshot snapshot;
    read_program(snapshot, appliance);
    std::vector<std::string> cores;
    for (std::size_t i = 0; i < appliance.cores_count(); ++i) {
        cores.push_back(appliance.core(i).info().name);
    }
    for (std::size_t i = 0; i < appliance.pollers_count(); ++i) {
        snapshot.pollers.push_back(poller_snapshot(appliance, i, cores, running));
    }
    if (const StateRecovery* const earlier = appliance.recovery().earlier) {
        for (PollerSnapshot& poller : snapshot.pollers) {
            for (LineSnapshot& line : poller.lines) {
                line.missed_before_start = earlier->missed(line.line);
            }
        }
    }
    for (std::size_t i = 0; i < appliance.cores_count(); ++i) {
        snapshot.cores.push_back(core_snapshot(appliance, i, snapshot.pollers, running));
    }
    snapshot.recovery = recovery_snapshot(appliance);
    for (const PollerSnapshot& poller : snapshot.pollers) {
        snapshot.recovery.notes_dropped += poller.notes_dropped.value_or(0);
        snapshot.recovery.not_kept += poller.history_skipped.value_or(0);
    }
    snapshot.peers = peers_snapshot(appliance);
    snapshot.published = published_snapshot(appliance);
    snapshot.recorder = recorder_snapshot(appliance);
    return snapshot;
}

std::uint64_t not_recorded(const CounterSnapshot& counters) {
    std::uint64_t packets = 0;
    for (const PollerSnapshot& poller : counters.pollers) {
        packets += poller.not_recorded;
    }
    return packets + (counters.recorder ? counters.recorder->counts[RecorderCount::unwritten] : 0);
}

std::uint64_t missed_before_start(const CounterSnapshot& counters) {
    std::uint64_t messages = 0;
    for (const LineSnapshot& line : parts_of(counters, &PollerSnapshot::lines)) {
        messages += line.missed_before_start.value_or(0);
    }
    return messages;
}

std::uint64_t filtered_by_recorder(const CounterSnapshot& counters) {
    std::uint64_t packets = 0;
    for (const PollerSnapshot& poller : counters.pollers) {
        packets += poller.filtered;
    }
    return packets;
}

Totals totals_of(const CounterSnapshot& counters) {
    Totals totals;
    for (const PollerSnapshot& poller : counters.pollers) {
        for (const QueueSnapshot& queue : poller.queues) {
            totals.packets += queue.counts[nic::PortCount::packets];
        }
        for (const LineSnapshot& line : poller.lines) {
            totals.lines += 1;
            totals.lines_up += line.up ? 1 : 0;
            totals.delivered += line.counts[feed::LineCount::delivered];
            totals.lost += line.counts[feed::LineCount::lost];
        }
        for (const RingSnapshot& ring : poller.rings) {
            totals.refused += ring.counts[RingCount::refused];
        }
    }
    return totals;
}

}  // namespace pinstrike::actors
