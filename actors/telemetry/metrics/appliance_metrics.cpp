// path: cold
#include "actors/telemetry/metrics/appliance_metrics.h"

#include "actors/telemetry/metrics/allocator_statistics.h"
#include "actors/telemetry/metrics/families.h"
#include "actors/threads/heap_guard.h"
#include "config/version.h"
#include "nic/multicast/reverse_path.h"

#include <string>
#include <utility>

namespace pinstrike::actors {

namespace {

double seconds(std::uint64_t ns) {
    return static_cast<double>(ns) * 1e-9;
}

double number(const Counter& counter) {
    return static_cast<double>(counter.read());
}

/// Every row of a table with its count.
template <class Rows, class Counts>
void add_rows(Families& out, std::string_view subject, const Rows& rows, const Counts& count_of,
              const Labels& labels) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
        out.row(subject, rows[i], labels, count_of(i));
    }
}

/// The same for the counters of a table.
template <class Enum, std::size_t Count>
void add_counts(Families& out, std::string_view subject, const std::array<Row, Count>& rows,
                const Counters<Enum, Count>& counters, const Labels& labels) {
    add_rows(
        out, subject, rows, [&](std::size_t i) { return counters.read(static_cast<Enum>(i)); },
        labels);
}

template <class Enum, std::size_t Count>
void add_reasons(Families& out, Metric metric, const std::array<Row, Count>& rows,
                 const Counters<Enum, Count>& counters, const Labels& labels) {
    out.reasons(metric, rows, labels,
                [&](std::size_t i) { return counters.read(static_cast<Enum>(i)); });
}

// ---------------------------------------------------------------- ports

void add_device(Families& out, const nic::Port& port, const Labels& labels) {
    const nic::DeviceStatistics device = port.statistics();
    if (device.missed) {
        out.value(Metric::device_missed_packets_total, labels, static_cast<double>(*device.missed));
    }
    if (device.no_buffer) {
        out.value(Metric::device_no_buffer_packets_total, labels,
                  static_cast<double>(*device.no_buffer));
    }
    if (device.errors) {
        out.value(Metric::port_errors_total, labels, static_cast<double>(*device.errors));
    }
    if (device.link_up) {
        out.value(Metric::port_link_up, labels, *device.link_up ? 1 : 0);
    }
}

void add_port(Families& out, const PollerTask& poller, std::size_t i) {
    const nic::Port& port = poller.port(i);
    const nic::PortCounters& counters = port.counters();
    const Labels labels{{"port", port.name()}, {"thread", poller.name()}};
    out.value(Metric::port_packets_total, labels, number(counters.packets));
    out.value(Metric::port_bytes_total, labels, number(counters.bytes));
    out.value(Metric::port_handed_packets_total, labels, static_cast<double>(poller.handed(i)));
    out.value(Metric::port_full_bursts_total, labels, number(counters.full_bursts));
    out.value(Metric::port_link_changes_total, labels, number(counters.link_changes));
    out.reasons(Metric::port_dropped_packets_total, nic::Drop_rows, labels, [&](std::size_t drop) {
        return poller.drops(i).read(static_cast<nic::Drop>(drop));
    });
    add_device(out, port, labels);
}

// ---------------------------------------------------------------- lines

void add_stream(Families& out, PollerTask& poller, std::size_t line, feed::Stream stream,
                Labels labels) {
    labels.push_back({"stream", stream == feed::Stream::a ? "A" : "B"});
    const feed::StreamCounters& counters = poller.arbiter(line).counters(stream);
    const feed::LineWatch& watch = poller.watch(line);
    out.value(Metric::stream_state, labels, static_cast<double>(watch.state(stream)));
    out.value(Metric::stream_last_packet_timestamp_seconds, labels,
              seconds(watch.heard_ns(stream)));
    out.histogram(Metric::stream_lead_seconds, labels, poller.lead(line, stream).snapshot());
    add_counts(out, "stream", feed::StreamCount_rows, counters, labels);
}

void add_line(Families& out, PollerTask& poller, std::size_t i) {
    feed::Arbiter& arbiter = poller.arbiter(i);
    const Labels labels{{"line", std::to_string(poller.line_number(i))}};
    const feed::LineCounters& counters = arbiter.counters();
    add_counts(out, "line", feed::LineCount_rows, counters, labels);
    out.value(Metric::line_retransmission_packets_total, labels,
              static_cast<double>(poller.retransmission_packets(i)));
    out.value(Metric::line_down, labels, poller.watch(i).down() ? 1 : 0);
    for (const feed::Stream stream : {feed::Stream::a, feed::Stream::b}) {
        if (poller.watch(i).receives(stream)) {
            add_stream(out, poller, i, stream, labels);
        }
    }
}

void add_rejects(Families& out, const PollerTask& poller, std::size_t line) {
    out.reasons(Metric::line_rejected_blocks_total, poller.reject_rows(),
                {{"line", std::to_string(poller.line_number(line))}},
                [&](std::size_t row) { return poller.rejects(line, row); });
}

// ---------------------------------------------------------------- threads and rings

void add_loop(Families& out, const LoopCounters& counters, const std::string& name) {
    const Labels labels{{"thread", name}};
    const double busy = seconds(counters.busy_ns.read());
    const double idle = seconds(counters.idle_ns.read());
    out.value(Metric::loop_steps_total, labels, number(counters.steps));
    out.value(Metric::loop_busy_seconds_total, labels, busy);
    out.value(Metric::loop_idle_seconds_total, labels, idle);
    out.value(Metric::loop_busy_ratio, labels, busy + idle > 0 ? busy / (busy + idle) : 0);
    out.value(Metric::loop_longest_step_seconds, labels, seconds(counters.longest_step_ns.read()));
    out.histogram(Metric::loop_stop_seconds, labels, counters.stops_ns.snapshot());
}

void add_ring(Families& out, const Router& router, std::size_t ring, const std::string& name) {
    const RingCounters& counters = router.counters(ring);
    const Labels labels{{"ring", name}};
    out.value(Metric::ring_routed_messages_total, labels, number(counters.routed));
    out.value(Metric::ring_pushed_messages_total, labels, number(counters.pushed));
    out.value(Metric::ring_refused_messages_total, labels, number(counters.refused));
    out.value(Metric::ring_broadcast_records_total, labels, number(counters.broadcast));
    out.value(Metric::ring_untold_repairs_total, labels, number(counters.repairs_untold));
    out.value(Metric::ring_waits_total, labels, number(counters.waits));
    out.value(Metric::ring_high_water_records, labels, number(router.high_water(ring)));
    out.value(Metric::ring_capacity_records, labels, static_cast<double>(router.capacity(ring)));
}

void add_refused_calls(Families& out, const Appliance& appliance) {
    for (const RefusedCalls& calls : appliance.refused_calls()) {
        out.value(Metric::thread_refused_calls_total, {{"thread", calls.thread}},
                  static_cast<double>(calls.count));
    }
}

void add_poller(Families& out, Appliance& appliance, std::size_t index) {
    PollerTask& poller = appliance.poller(index);
    add_loop(out, poller.counters(), poller.name());
    out.histogram(Metric::latency_seconds,
                  {{"stage", "exchange_to_decoded"}, {"thread", poller.name()}},
                  poller.counters().exchange_to_decoded_ns.snapshot());
    out.histogram(Metric::latency_disturbed_seconds,
                  {{"stage", "exchange_to_decoded"}, {"thread", poller.name()}},
                  poller.counters().exchange_to_decoded_disturbed_ns.snapshot());
    for (std::size_t i = 0; i < poller.ports_count(); ++i) {
        add_port(out, poller, i);
    }
    for (std::size_t i = 0; i < poller.lines_count(); ++i) {
        add_line(out, poller, i);
        add_rejects(out, poller, i);
    }
    for (std::size_t i = 0; i < appliance.cores_count(); ++i) {
        add_ring(out, poller.router(), i, poller.name() + ":" + appliance.core(i).info().name);
    }
}

// ---------------------------------------------------------------- cores and actors

void add_actor(Families& out, const Core& core, std::size_t i) {
    const Labels labels{{"core", core.info().name}, {"actor", std::string{core.actor(i).name()}}};
    const ActorCounters& counters = core.actor_counters(i);
    out.value(Metric::actor_events_total, labels, number(counters.events));
    out.value(Metric::actor_batches_total, labels, number(counters.batches));
    out.histogram(Metric::actor_waiting_seconds, labels, counters.waiting_ns.snapshot());
    out.histogram(Metric::actor_service_seconds, labels, counters.service_ns.snapshot());
    for (const ActorFigures& figures : core.actor(i).figures()) {
        for (std::size_t row = 0; row < figures.values.size(); ++row) {
            out.row(figures.table, row, {{"core", core.info().name}}, figures.values[row]);
        }
    }
}

void add_core(Families& out, const Appliance& appliance, std::size_t index) {
    const Core& core = appliance.core(index);
    const CoreCounters& counters = core.counters();
    const Labels labels{{"core", core.info().name}};
    add_loop(out, counters, core.info().name);
    out.value(Metric::core_events_total, labels, number(counters.events));
    out.value(Metric::core_gap_events_total, labels, number(counters.gap_events));
    out.value(Metric::core_control_events_total, labels, number(counters.control_events));
    out.value(Metric::core_line_state_events_total, labels, number(counters.line_state_events));
    out.value(Metric::core_line_mark_events_total, labels, number(counters.line_mark_events));
    out.value(Metric::core_announced_series_total, labels, number(counters.announced_series));
    out.value(Metric::core_records_total, labels, number(counters.records));
    out.value(Metric::core_batches_total, labels, number(counters.batches));
    out.value(Metric::core_sleeps_total, labels, static_cast<double>(appliance.sleeps(index)));
    out.histogram(Metric::latency_seconds,
                  {{"stage", "receive_to_actor"}, {"thread", core.info().name}},
                  counters.receive_to_actor_ns.snapshot());
    out.histogram(Metric::latency_disturbed_seconds,
                  {{"stage", "receive_to_actor"}, {"thread", core.info().name}},
                  counters.receive_to_actor_disturbed_ns.snapshot());
    for (std::size_t i = 0; i < core.actors_count(); ++i) {
        add_actor(out, core, i);
    }
}

// ---------------------------------------------------------------- recovery

void add_repair_rings(Families& out, const PollerTask& poller) {
    const Labels labels{{"core", poller.name()}};
    out.value(Metric::recovery_dropped_notes_total, labels,
              number(poller.repair_rings()->notes_dropped()));
    out.value(Metric::recovery_taken_blocks_total, labels,
              number(poller.repair_rings()->repairs_taken()));
}

void add_recovery(Families& out, Appliance& appliance) {
    if (appliance.recovery() != nullptr || appliance.peers() != nullptr) {
        out.value(Metric::recovery_running, {}, appliance.recovery_failure().empty() ? 1 : 0);
    }
    if (appliance.recovery() == nullptr) {
        return;
    }
    const feed::Recovery& recovery = appliance.recovery()->recovery();
    add_counts(out, "recovery", feed::RecoveryCount_rows, recovery.counters(), {});
    for (std::size_t source = 0; source < recovery.sources_count(); ++source) {
        add_reasons(out, Metric::recovery_refused_requests_total, feed::Refusal_rows,
                    recovery.refused(source),
                    {{"source", std::string{recovery.source(source).name()}}});
    }
    for (std::size_t i = 0; i < appliance.pollers_count(); ++i) {
        add_repair_rings(out, appliance.poller(i));
    }
}

// ---------------------------------------------------------------- history and peers

void add_history(Families& out, Appliance& appliance, const feed::History& history) {
    add_counts(out, "history", feed::HistoryCount_rows, history.counters(), {});
    out.value(Metric::history_blocks, {}, static_cast<double>(history.blocks()));
    out.value(Metric::history_bytes, {}, static_cast<double>(history.used_bytes()));
    out.value(Metric::history_oldest_timestamp_seconds, {},
              static_cast<double>(history.oldest_ts_ns()) * 1e-9);
    for (std::size_t i = 0; i < appliance.pollers_count(); ++i) {
        const PollerTask& poller = appliance.poller(i);
        if (poller.history() != nullptr) {
            out.value(Metric::history_skipped_blocks_total, {{"core", poller.name()}},
                      number(poller.history()->skipped()));
        }
    }
}

void add_peer_server(Families& out, const peer::Server& server) {
    add_counts(out, "peer_server", peer::ServerCount_rows, server.counters().counts, {});
    out.value(Metric::peer_server_open_connections, {}, static_cast<double>(server.connections()));
    add_reasons(out, Metric::peer_server_refusals_total, peer::PeerRefusal_rows,
                server.counters().refusals, {});
    add_reasons(out, Metric::peer_server_ends_total, peer::SessionEnd_rows, server.counters().ends,
                {});
}

void add_peer_client(Families& out, const peer::ClientStatus& client) {
    const Labels labels{{"peer", client.peer}};
    add_counts(out, "peer_client", peer::ClientCount_rows, client.counters.counts, labels);
    out.value(Metric::peer_client_connected, labels, number(client.connected));
    add_reasons(out, Metric::peer_client_dropped_blocks_total, peer::PeerDrop_rows,
                client.counters.drops, labels);
    add_reasons(out, Metric::peer_client_refused_requests_total, feed::Refusal_rows,
                client.counters.refusals, labels);
    add_reasons(out, Metric::peer_client_refusals_total, peer::PeerRefusal_rows,
                client.counters.why, labels);
    add_reasons(out, Metric::peer_client_ends_total, peer::SessionEnd_rows, client.counters.ends,
                labels);
}

void add_peers(Families& out, Appliance& appliance) {
    const peer::PeerTask* task = appliance.peers();
    if (task == nullptr) {
        return;
    }
    if (task->history() != nullptr) {
        add_history(out, appliance, *task->history());
    }
    if (task->peers()->server() != nullptr) {
        add_peer_server(out, *task->peers()->server());
    }
    if (const peer::StateTransfer* state = appliance.state_transfer()) {
        add_counts(out, "peer_state", peer::StateCount_rows, state->counts(), {});
        out.value(Metric::peer_state_whole, {}, number(state->whole()));
    }
    for (const peer::ClientStatus& client : task->peers()->clients()) {
        add_peer_client(out, client);
    }
}

// ---------------------------------------------------------------- the program

void add_allocator(Families& out) {
    const auto statistics = read_allocator();
    if (!statistics) {
        return;
    }
    const auto bytes = [&out](Metric metric, std::uint64_t value) {
        out.value(metric, {}, static_cast<double>(value));
    };
    bytes(Metric::allocator_allocated_bytes, statistics->allocated);
    bytes(Metric::allocator_active_bytes, statistics->active);
    bytes(Metric::allocator_metadata_bytes, statistics->metadata);
    bytes(Metric::allocator_resident_bytes, statistics->resident);
    bytes(Metric::allocator_mapped_bytes, statistics->mapped);
    bytes(Metric::allocator_retained_bytes, statistics->retained);
}

void add_program(Families& out, Appliance& appliance) {
    out.value(Metric::build_info, {{"version", version}, {"compiler", __VERSION__}}, 1);
    out.value(Metric::running_seconds, {}, appliance.seconds());
    const nic::Clock& clock = appliance.clock();
    out.value(Metric::clock_error_seconds, {}, seconds(clock.error_ns()));
    if (clock.uses_tsc()) {
        out.value(Metric::clock_tick_seconds, {}, clock.tick_ns() * 1e-9);
    }
    out.value(Metric::clock_tsc, {}, clock.uses_tsc() ? 1 : 0);
    out.value(Metric::clock_steps_total, {}, static_cast<double>(clock.steps_count()));
    const ReloadCounters& reloads = appliance.reloads();
    add_rows(out, "config", ReloadCount_rows,
             [&](std::size_t i) { return reloads.read(static_cast<ReloadCount>(i)); }, {});
    out.value(Metric::config_reload_refused, {}, static_cast<double>(reloads.last_refused.read()));
    const SeriesList& series = appliance.series();
    if (!series.file.empty()) {
        add_rows(out, "series_map", SeriesRow_rows, [&](std::size_t i) { return series.rows[i]; },
                 {});
    }
    out.value(Metric::hot_allocations_total, {},
              static_cast<double>(heap_guard::allocations.load(std::memory_order_relaxed)));
    if (const auto drops = nic::reverse_path_drops(appliance.config().ports)) {
        out.value(Metric::reverse_path_dropped_packets_total, {}, static_cast<double>(*drops));
    }
    add_allocator(out);
}

}  // namespace

std::vector<prometheus::MetricFamily> appliance_metrics(Appliance& appliance,
                                                        const LogCounters& log) {
    Families out(appliance.config().name);
    add_program(out, appliance);
    add_counts(out, "log", LogCount_rows, log, {});
    for (std::size_t i = 0; i < appliance.pollers_count(); ++i) {
        add_poller(out, appliance, i);
    }
    for (std::size_t i = 0; i < appliance.cores_count(); ++i) {
        add_core(out, appliance, i);
    }
    add_refused_calls(out, appliance);
    add_recovery(out, appliance);
    add_peers(out, appliance);
    return out.take();
}

}  // namespace pinstrike::actors
