// path: cold
#include "actors/telemetry/metrics/appliance_metrics.h"

#include "actors/telemetry/metrics/allocator_statistics.h"
#include "actors/telemetry/metrics/families.h"
#include "config/version.h"

#include <string>

namespace pinstrike::actors {

namespace {

// ---------------------------------------------------------------- ports

void add_device(Families& out, const nic::DeviceStatistics& device, const Labels& labels) {
    out.value(Metric::device_missed_packets_total, labels, device.missed);
    out.value(Metric::device_no_buffer_packets_total, labels, device.no_buffer);
    out.value(Metric::port_errors_total, labels, device.errors);
    out.value(Metric::port_link_up, labels, device.link_up);
}

void add_port(Families& out, const QueueSnapshot& queue, const std::string& thread) {
    const Labels labels{{"port", queue.name}, {"thread", thread}};
    out.rows("port", nic::PortCount_rows, queue.counts, labels);
    out.value(Metric::port_handed_packets_total, labels, queue.to_lines);
    out.reasons(Metric::port_dropped_packets_total, nic::Drop_rows, queue.dropped, labels);
    add_device(out, queue.device, labels);
}

// ---------------------------------------------------------------- lines

void add_stream(Families& out, const LineSnapshot& line, std::size_t stream, Labels labels) {
    labels.push_back({"stream", stream == 0 ? "A" : "B"});
    if (line.watched) {
        out.value(Metric::stream_state, labels, line.states[stream]);
    }
    out.value(Metric::stream_last_packet_timestamp_seconds, labels,
              seconds_of(line.heard_ns[stream]));
    out.histogram(Metric::stream_lead_seconds, labels, line.skews[stream]);
    out.rows("stream", feed::StreamCount_rows, line.streams[stream], labels);
}

void add_line(Families& out, const LineSnapshot& line, std::span<const Row> reject_rows) {
    const Labels labels{{"line", std::to_string(line.line)}};
    out.rows("line", feed::LineCount_rows, line.counts, labels);
    out.value(Metric::line_retransmission_packets_total, labels, line.retransmission_packets);
    if (line.watched) {
        out.value(Metric::line_down, labels, line.down);
    }
    for (std::size_t stream = 0; stream < feed::streams_count; ++stream) {
        if (line.received[stream]) {
            add_stream(out, line, stream, labels);
        }
    }
    out.reasons(Metric::line_rejected_blocks_total, reject_rows, line.rejected, labels);
}

// ---------------------------------------------------------------- threads and rings

void add_loop(Families& out, const LoopSnapshot& loop, const std::string& name) {
    const Labels labels{{"thread", name}};
    const double busy = seconds_of(loop.busy_ns);
    const double idle = seconds_of(loop.idle_ns);
    out.value(Metric::loop_steps_total, labels, loop.steps);
    out.value(Metric::loop_busy_seconds_total, labels, busy);
    out.value(Metric::loop_idle_seconds_total, labels, idle);
    out.value(Metric::loop_busy_ratio, labels, busy + idle > 0 ? busy / (busy + idle) : 0);
    out.value(Metric::loop_longest_step_seconds, labels, seconds_of(loop.longest_step_ns));
    out.histogram(Metric::loop_stop_seconds, labels, loop.preemptions);
}

void add_stage(Families& out, const char* stage, const std::string& thread,
               const StageSnapshot& latency) {
    const Labels labels{{"stage", stage}, {"thread", thread}};
    out.histogram(Metric::latency_seconds, labels, latency.all);
    out.histogram(Metric::latency_disturbed_seconds, labels, latency.preempted);
}

void add_ring(Families& out, const RingSnapshot& ring) {
    const Labels labels{{"ring", ring.from + ":" + ring.to}};
    out.rows("ring", RingCount_rows, ring.counts, labels);
    out.value(Metric::ring_high_water_records, labels, ring.high_water_records);
    out.value(Metric::ring_capacity_records, labels, ring.capacity_records);
}

void add_poller(Families& out, const PollerSnapshot& poller, bool recording) {
    add_loop(out, poller, poller.name);
    add_stage(out, "exchange_to_decoded", poller.name, poller.exchange_to_decoded);
    for (const QueueSnapshot& queue : poller.queues) {
        add_port(out, queue, poller.name);
    }
    for (const LineSnapshot& line : poller.lines) {
        add_line(out, line, poller.reject_rows);
    }
    for (const RingSnapshot& ring : poller.rings) {
        add_ring(out, ring);
    }
    if (recording) {
        const Labels thread{{"thread", poller.name}};
        out.value(Metric::recorder_packets_total, thread, poller.recorded);
        out.value(Metric::recorder_not_recorded_packets_total, thread, poller.not_recorded);
        out.value(Metric::recorder_filtered_packets_total, thread, poller.filtered);
    }
    const Labels labels{{"core", poller.name}};
    if (poller.notes_dropped) {
        out.value(Metric::recovery_dropped_notes_total, labels, *poller.notes_dropped);
        out.value(Metric::recovery_taken_blocks_total, labels, poller.repairs_taken);
    }
    out.value(Metric::history_skipped_blocks_total, labels, poller.history_skipped);
}

// ---------------------------------------------------------------- cores and actors

void add_actor(Families& out, const ActorSnapshot& actor, const std::string& core) {
    const Labels labels{{"core", core}, {"actor", actor.name}};
    out.value(Metric::actor_events_total, labels, actor.events);
    out.value(Metric::actor_batches_total, labels, actor.batches);
    out.histogram(Metric::actor_waiting_seconds, labels, actor.waiting.all);
    out.histogram(Metric::actor_service_seconds, labels, actor.service);
    for (const ActorFigures& figures : actor.figures) {
        for (std::size_t row = 0; row < figures.values.size(); ++row) {
            out.row(figures.table, row, {{"core", core}}, figures.values[row]);
        }
    }
}

void add_core(Families& out, const CoreSnapshot& core) {
    const Labels labels{{"core", core.name}};
    add_loop(out, core, core.name);
    out.rows("core", CoreCount_rows, core.counts, labels);
    out.value(Metric::core_sleeps_total, labels, core.sleeps);
    add_stage(out, "receive_to_actor", core.name, core.receive_to_actor);
    for (const ActorSnapshot& actor : core.actors) {
        add_actor(out, actor, core.name);
    }
}

void add_published(Families& out, const PublishedSnapshot& published,
                   const std::vector<CoreSnapshot>& cores) {
    out.value(Metric::published_bytes, {}, published.bytes);
    out.value(Metric::published_start_timestamp_seconds, {}, seconds_of(published.start_ns));
    out.value(Metric::published_reader_wakeups_total, {}, published.wakeups);
    for (std::size_t i = 0; i < published.stream_records.size(); ++i) {
        out.value(Metric::published_stream_records_total, {{"core", cores[i].name}},
                  published.stream_records[i]);
    }
}

// ---------------------------------------------------------------- recovery and peers

void add_recovery(Families& out, const RecoverySnapshot& recovery) {
    if (recovery.has_thread) {
        out.value(Metric::recovery_running, {}, recovery.failure.empty());
    }
    if (!recovery.counts) {
        return;
    }
    out.rows("recovery", feed::RecoveryCount_rows, *recovery.counts);
    for (const auto& [source, refused] : recovery.sources) {
        out.reasons(Metric::recovery_refused_requests_total, feed::Refusal_rows, refused,
                    {{"source", source}});
    }
}

void add_recorder(Families& out, const RecorderSnapshot& recorder) {
    out.rows("recorder", RecorderCount_rows, recorder.counts);
    out.value(Metric::recorder_running, {}, recorder.failure.empty());
    out.value(Metric::recorder_failing, {}, recorder.error != 0);
    out.value(Metric::recorder_disk_full, {}, is_full(recorder.error));
    out.reasons(Metric::recorder_missing_packets_total, MissingReason_rows, recorder.missing);
    out.value(Metric::recorder_longest_write_seconds, {}, seconds_of(recorder.longest_write_ns));
    out.value(Metric::recorder_longest_pause_seconds, {}, seconds_of(recorder.longest_pause_ns));
    out.value(Metric::recorder_snapshot_timestamp_seconds, {}, seconds_of(recorder.snapshot_ns));
    out.value(Metric::recorder_snapshot_interval_seconds, {},
              seconds_of(recorder.snapshot_interval_ns));
    out.value(Metric::recorder_snapshot_series, {}, recorder.snapshot_series);
    out.value(Metric::recorder_recovery_succeeded, {}, recorder.recoveries);
    out.value(Metric::recorder_recovery_failed, {}, recorder.recoveries_failed);
    out.value(Metric::recorder_recovered_series, {}, recorder.recovered_series);
}

void add_history(Families& out, const HistorySnapshot& history) {
    out.rows("history", feed::HistoryCount_rows, history.counts);
    out.value(Metric::history_blocks, {}, history.blocks);
    out.value(Metric::history_bytes, {}, history.used_bytes);
    out.value(Metric::history_oldest_timestamp_seconds, {}, seconds_of(history.oldest_ts_ns));
}

void add_peer_server(Families& out, const PeerServerSnapshot& server) {
    out.rows("peer_server", peer::ServerCount_rows, server.counts);
    out.value(Metric::peer_server_open_connections, {}, server.connections);
    out.reasons(Metric::peer_server_refusals_total, peer::PeerRefusal_rows, server.refusals);
    out.reasons(Metric::peer_server_ends_total, peer::SessionEnd_rows, server.ends);
}

void add_peer_client(Families& out, const PeerClientSnapshot& client) {
    const Labels labels{{"peer", client.peer}};
    out.rows("peer_client", peer::ClientCount_rows, client.counts, labels);
    out.value(Metric::peer_client_connected, labels, client.connected);
    out.reasons(Metric::peer_client_dropped_blocks_total, peer::PeerDrop_rows, client.drops,
                labels);
    out.reasons(Metric::peer_client_refused_requests_total, feed::Refusal_rows,
                client.refused_requests, labels);
    out.reasons(Metric::peer_client_refusals_total, peer::PeerRefusal_rows, client.refusals,
                labels);
    out.reasons(Metric::peer_client_ends_total, peer::SessionEnd_rows, client.ends, labels);
}

void add_peers(Families& out, const PeersSnapshot& peers) {
    if (peers.history) {
        add_history(out, *peers.history);
    }
    if (peers.server) {
        add_peer_server(out, *peers.server);
    }
    if (peers.state) {
        out.rows("peer_state", peer::StateCount_rows, *peers.state);
        out.value(Metric::peer_state_whole, {}, peers.state_whole);
    }
    for (const PeerClientSnapshot& client : peers.clients) {
        add_peer_client(out, client);
    }
}

// ---------------------------------------------------------------- the program

void add_program(Families& out, const CounterSnapshot& counters) {
    out.value(Metric::build_info, {{"version", version}, {"compiler", __VERSION__}}, 1);
    out.value(Metric::running_seconds, {}, counters.seconds);
    out.value(Metric::clock_error_seconds, {}, seconds_of(counters.clock_error_ns));
    if (counters.clock_tick_ns) {
        out.value(Metric::clock_tick_seconds, {}, *counters.clock_tick_ns * 1e-9);
    }
    out.value(Metric::clock_tsc, {}, counters.clock_tick_ns.has_value());
    out.value(Metric::clock_steps_total, {}, counters.clock_steps);
    out.rows("config", ReloadCount_rows, counters.reloads);
    out.value(Metric::config_reload_refused, {}, counters.reload_refused);
    out.value(Metric::admin_untaken_connections_total, {}, counters.admin_untaken);
    if (counters.series_map) {
        out.rows("series_map", SeriesRow_rows, *counters.series_map);
    }
    out.value(Metric::hot_allocations_total, {}, counters.hot_allocations);
    out.value(Metric::reverse_path_dropped_packets_total, {}, counters.reverse_path_drops);
    for (const RefusedCalls& calls : counters.calls) {
        out.value(Metric::thread_refused_calls_total, {{"thread", calls.thread}}, calls.count);
    }
    add_allocator_statistics(out);
}

}  // namespace

std::vector<prometheus::MetricFamily> appliance_metrics(const CounterSnapshot& counters,
                                                        const LogCounters& log,
                                                        const EndpointCounters* endpoint) {
    Families out(counters.feed);
    add_program(out, counters);
    out.rows("log", LogCount_rows, RowTotals{log});
    for (const PollerSnapshot& poller : counters.pollers) {
        add_poller(out, poller, counters.recorder.has_value());
    }
    for (const CoreSnapshot& core : counters.cores) {
        add_core(out, core);
    }
    if (counters.published) {
        add_published(out, *counters.published, counters.cores);
    }
    if (counters.recorder) {
        add_recorder(out, *counters.recorder);
        out.value(Metric::recorder_missed_before_start_messages, {}, missed_before_start(counters));
    }
    add_recovery(out, counters.recovery);
    add_peers(out, counters.peers);
    if (endpoint != nullptr) {
        out.rows("endpoint", EndpointCount_rows, RowTotals{*endpoint});
    }
    return out.take();
}

}  // namespace pinstrike::actors
