// path: cold
#include "actors/metrics/appliance_metrics.h"

#include "actors/heap_guard.h"
#include "actors/metrics/allocator_statistics.h"
#include "actors/metrics/families.h"
#include "config/version.h"

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

// ---------------------------------------------------------------- ports

void add_device(Families& out, const nic::Port& port, const Labels& labels) {
    const nic::DeviceStatistics device = port.statistics();
    if (device.missed) {
        out.counter("device_missed_packets_total",
                    "Packets the device had no free descriptor for. Absent where the driver does "
                    "not count them",
                    labels, static_cast<double>(*device.missed));
    }
    if (device.no_buffer) {
        out.counter("device_no_buffer_packets_total",
                    "Packets for which there was no buffer. Absent where the driver does not count "
                    "them",
                    labels, static_cast<double>(*device.no_buffer));
    }
    if (device.errors) {
        out.counter("port_errors_total",
                    "Packets the device received damaged, receives the kernel refused, captures "
                    "that end within a packet. Absent where the driver does not count them",
                    labels, static_cast<double>(*device.errors));
    }
    if (device.link_up) {
        out.gauge("port_link_up", "1 while the port's link is up", labels, *device.link_up ? 1 : 0);
    }
}

void add_port(Families& out, const PollerTask& poller, std::size_t i) {
    const nic::Port& port = poller.port(i);
    const nic::PortCounters& counters = port.counters();
    const Labels labels{{"port", port.name()}, {"thread", poller.name()}};
    out.counter("port_packets_total", "Packets received", labels, number(counters.packets));
    out.counter("port_bytes_total", "Bytes of the packets received, Ethernet header included",
                labels, number(counters.bytes));
    out.counter("port_handed_packets_total", "Packets handed to lines: what was not dropped",
                labels, static_cast<double>(poller.handed(i)));
    out.counter("port_full_bursts_total", "Receives that filled the burst: more was waiting",
                labels, number(counters.full_bursts));
    out.counter("port_link_changes_total", "Times that the link went down or came up", labels,
                number(counters.link_changes));
    static const std::string help = reasons_help("Packets dropped before any line", nic::Drop_rows);
    for (std::size_t drop = 0; drop < nic::Drop_count; ++drop) {
        Labels with_reason = labels;
        with_reason.push_back({"reason", std::string{nic::Drop_rows[drop].name}});
        out.counter("port_dropped_packets_total", help, std::move(with_reason),
                    static_cast<double>(poller.drops(i).read(static_cast<nic::Drop>(drop))));
    }
    add_device(out, port, labels);
}

// ---------------------------------------------------------------- lines

void add_stream(Families& out, PollerTask& poller, std::size_t line, feed::Stream stream,
                Labels labels) {
    labels.push_back({"stream", stream == feed::Stream::a ? "A" : "B"});
    const feed::StreamCounters& counters = poller.arbiter(line).counters(stream);
    const feed::LineWatch& watch = poller.watch(line);
    out.gauge("stream_state", "0 up, 1 silent, 2 down", labels,
              static_cast<double>(watch.state(stream)));
    out.gauge("stream_last_packet_timestamp_seconds",
              "When its latest packet was noticed; 0: none has come", labels,
              seconds(watch.heard_ns(stream)));
    out.histogram(
        "stream_lead_seconds",
        "How much earlier than the line's other stream it brought a block that it brought "
        "first; one block at a time. How often: by stream_accepted_messages_total",
        labels, poller.lead(line, stream).snapshot());
    add_rows(
        out, "stream", feed::StreamCount_rows,
        [&](std::size_t i) { return counters.read(static_cast<feed::StreamCount>(i)); }, labels);
}

void add_line(Families& out, PollerTask& poller, std::size_t i) {
    feed::Arbiter& arbiter = poller.arbiter(i);
    const Labels labels{{"line", std::to_string(poller.line_number(i))}};
    const feed::LineCounters& counters = arbiter.counters();
    for (std::size_t count = 0; count < feed::LineCount_count; ++count) {
        const Row& row = feed::LineCount_rows[count];
        const std::uint64_t value = counters.read(static_cast<feed::LineCount>(count));
        if (static_cast<feed::LineCount>(count) == feed::LineCount::lost) {
            // What is found after all is lost no more, so this one can go down.
            out.gauge(row_name("line", row), row.sentence, labels, static_cast<double>(value));
        } else {
            out.row("line", row, labels, value);
        }
    }
    out.counter("line_retransmission_packets_total", "Datagrams of the retransmission groups",
                labels, static_cast<double>(poller.retransmission_packets(i)));
    out.gauge("line_down", "1 while neither stream is heard though the line's session is on",
              labels, poller.watch(i).down() ? 1 : 0);
    add_stream(out, poller, i, feed::Stream::a, labels);
    add_stream(out, poller, i, feed::Stream::b, labels);
}

void add_rejects(Families& out, const PollerTask& poller, std::size_t line) {
    const auto rows = poller.reject_rows();
    const std::string help =
        reasons_help("Blocks refused, whole or from some message on, or remarked upon", rows);
    for (std::size_t row = 0; row < rows.size(); ++row) {
        out.counter("line_rejected_blocks_total", help,
                    {{"line", std::to_string(poller.line_number(line))},
                     {"reason", std::string{rows[row].name}}},
                    static_cast<double>(poller.rejects(line, row)));
    }
}

// ---------------------------------------------------------------- threads and rings

void add_loop(Families& out, const LoopCounters& counters, const std::string& name) {
    const Labels labels{{"thread", name}};
    const double busy = seconds(counters.busy_ns.read());
    const double idle = seconds(counters.idle_ns.read());
    out.counter("loop_steps_total", "Turns of a poll or actor thread's loop", labels,
                number(counters.steps));
    out.counter("loop_busy_seconds_total", "Time in turns that found work", labels, busy);
    out.counter("loop_idle_seconds_total", "Time in turns that found none", labels, idle);
    out.gauge("loop_busy_ratio", "Share of the time since the start that turns with work took",
              labels, busy + idle > 0 ? busy / (busy + idle) : 0);
    out.gauge("loop_longest_step_seconds", "Longest turn that found work, since the start", labels,
              seconds(counters.longest_step_ns.read()));
    out.histogram("loop_stop_seconds",
                  "Stops of the machine: turns of 5 us or longer in which the thread did nothing. "
                  "Those that hit it at work are not found",
                  labels, counters.stops_ns.snapshot());
}

constexpr std::string_view latency_help =
    "By stage. exchange_to_decoded: from the exchange's block timestamp to the end of decoding, "
    "each packet as the first of its burst; its error is at least that of the clock. "
    "receive_to_actor: from the arrival at this host to the turn of the core that hands it to its "
    "actors, each message as the first of its batch. Of a replay at a pace: from when it was due";

constexpr std::string_view disturbed_help =
    "Of latency_seconds, those that overlap a stop of the machine (loop_stop_seconds) of one of "
    "their threads";

void add_ring(Families& out, const Router& router, std::size_t ring, const std::string& name) {
    const RingCounters& counters = router.counters(ring);
    const Labels labels{{"ring", name}};
    out.counter("ring_routed_messages_total", "Messages meant for the core", labels,
                number(counters.routed));
    out.counter("ring_pushed_messages_total", "Messages written to the ring", labels,
                number(counters.pushed));
    out.counter("ring_refused_messages_total",
                "Messages that found the ring full: the core is told of a gap", labels,
                number(counters.refused));
    out.counter("ring_broadcast_records_total", "Controls, gaps and line states written", labels,
                number(counters.broadcast));
    out.counter("ring_untold_repairs_total", "Repairs not told for want of room", labels,
                number(counters.repairs_untold));
    out.counter("ring_waits_total", "Times that the poller waited for room (replays)", labels,
                number(counters.waits));
    out.gauge("ring_high_water_records", "Most records found waiting, since the start", labels,
              number(router.high_water(ring)));
    out.gauge("ring_capacity_records", "Records of 64 bytes the ring holds", labels,
              static_cast<double>(router.capacity(ring)));
}

void add_refused_calls(Families& out, const Appliance& appliance) {
    for (const RefusedCalls& calls : appliance.refused_calls()) {
        out.counter("thread_refused_calls_total",
                    "System calls that a hot thread made against its list, and that were not made",
                    {{"thread", calls.thread}}, static_cast<double>(calls.count));
    }
}

void add_poller(Families& out, Appliance& appliance, std::size_t index) {
    PollerTask& poller = appliance.poller(index);
    add_loop(out, poller.counters(), poller.name());
    out.histogram("latency_seconds", latency_help,
                  {{"stage", "exchange_to_decoded"}, {"thread", poller.name()}},
                  poller.counters().exchange_to_decoded_ns.snapshot());
    out.histogram("latency_disturbed_seconds", disturbed_help,
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

void add_book(Families& out, const Book& book, const Labels& labels) {
    out.gauge(
        "book_entries",
        "Series in the book's table, those announced but not heard, and those forgotten but not "
        "yet taken out, included",
        labels, static_cast<double>(book.entries_count()));
    out.gauge("book_announced_entries",
              "Of these, series that the day's file or a series map announced, heard or not",
              labels, static_cast<double>(book.announced_count()));
    add_rows(
        out, "book", BookCount_rows,
        [&](std::size_t i) { return book.counters().read(static_cast<BookCount>(i)); }, labels);
}

void add_actor(Families& out, const Core& core, std::size_t i) {
    const Labels labels{{"core", core.info().name}, {"actor", std::string{core.actor(i).name()}}};
    const ActorCounters& counters = core.actor_counters(i);
    out.counter("actor_events_total", "Data messages given to the actor", labels,
                number(counters.events));
    out.counter("actor_batches_total", "Batches given to the actor", labels,
                number(counters.batches));
    out.histogram(
        "actor_waiting_seconds",
        "From a message's arrival at this host to the actor's call, each as the first of its "
        "batch; one batch in 8",
        labels, counters.waiting_ns.snapshot());
    out.histogram("actor_service_seconds", "Time in the actor's call, sampled by the batch", labels,
                  counters.service_ns.snapshot());
    if (const auto* book = dynamic_cast<const Book*>(&core.actor(i))) {
        add_book(out, *book, {{"core", core.info().name}});
    }
}

void add_core(Families& out, const Appliance& appliance, std::size_t index) {
    const Core& core = appliance.core(index);
    const CoreCounters& counters = core.counters();
    const Labels labels{{"core", core.info().name}};
    add_loop(out, counters, core.info().name);
    out.counter("core_events_total", "Data messages taken from the rings", labels,
                number(counters.events));
    out.counter("core_gap_events_total", "Gaps and repairs taken from the rings", labels,
                number(counters.gap_events));
    out.counter("core_control_events_total", "Controls taken from the rings", labels,
                number(counters.control_events));
    out.counter("core_line_state_events_total", "Line states taken from the rings", labels,
                number(counters.line_state_events));
    out.counter("core_line_mark_events_total", "Marks of how far lines have come, from the rings",
                labels, number(counters.line_mark_events));
    out.counter("core_announced_series_total",
                "Series of the day's file that the actors were told of before the first message",
                labels, number(counters.announced_series));
    out.counter("core_records_total", "Records of 64 bytes taken from the rings", labels,
                number(counters.records));
    out.counter("core_batches_total", "Batches taken from the rings", labels,
                number(counters.batches));
    out.counter("core_sleeps_total", "Times that the thread went to sleep for want of work", labels,
                static_cast<double>(appliance.sleeps(index)));
    out.histogram("latency_seconds", latency_help,
                  {{"stage", "receive_to_actor"}, {"thread", core.info().name}},
                  counters.receive_to_actor_ns.snapshot());
    out.histogram("latency_disturbed_seconds", disturbed_help,
                  {{"stage", "receive_to_actor"}, {"thread", core.info().name}},
                  counters.receive_to_actor_disturbed_ns.snapshot());
    for (std::size_t i = 0; i < core.actors_count(); ++i) {
        add_actor(out, core, i);
    }
}

// ---------------------------------------------------------------- recovery

void add_roads(Families& out, const PollerTask& poller) {
    const Labels labels{{"core", poller.name()}};
    out.counter("recovery_dropped_notes_total",
                "Notes of what is missing or found that the road from the poller had no room for",
                labels, number(poller.roads()->notes_dropped()));
    out.counter("recovery_taken_blocks_total", "Blocks that the poller took from recovery", labels,
                number(poller.roads()->repairs_taken()));
}

void add_recovery(Families& out, Appliance& appliance) {
    if (appliance.recovery() == nullptr) {
        return;
    }
    const feed::Recovery& recovery = appliance.recovery()->recovery();
    for (std::size_t i = 0; i < feed::RecoveryCount_count; ++i) {
        const auto count = static_cast<feed::RecoveryCount>(i);
        const Row& row = feed::row_of(count);
        const std::uint64_t value = recovery.counters().read(count);
        if (count == feed::RecoveryCount::open || count == feed::RecoveryCount::in_flight) {
            out.gauge(row_name("recovery", row), row.sentence, {}, static_cast<double>(value));
        } else {
            out.row("recovery", row, {}, value);
        }
    }
    static const std::string help =
        reasons_help("Requests that a source did not fulfil", feed::Refusal_rows);
    for (std::size_t source = 0; source < recovery.sources_count(); ++source) {
        for (std::size_t i = 0; i < feed::Refusal_count; ++i) {
            const auto reason = static_cast<feed::Refusal>(i);
            out.counter("recovery_refused_requests_total", help,
                        {{"source", std::string{recovery.source(source).name()}},
                         {"reason", std::string{feed::row_of(reason).name}}},
                        static_cast<double>(recovery.refused(source).read(reason)));
        }
    }
    for (std::size_t i = 0; i < appliance.pollers_count(); ++i) {
        add_roads(out, appliance.poller(i));
    }
}

// ---------------------------------------------------------------- history and peers

template <class Enum, std::size_t Count>
void add_reasons(Families& out, const std::string& name, std::string_view what,
                 const std::array<Row, Count>& rows, const Counters<Enum, Count>& counters,
                 const Labels& labels) {
    const std::string help = reasons_help(what, rows);
    for (std::size_t i = 0; i < Count; ++i) {
        Labels own = labels;
        own.push_back({"reason", std::string{rows[i].name}});
        out.counter(name, help, own, static_cast<double>(counters.read(static_cast<Enum>(i))));
    }
}

template <class Enum, std::size_t Count>
void add_counts(Families& out, std::string_view subject, const std::array<Row, Count>& rows,
                const Counters<Enum, Count>& counters, const Labels& labels) {
    for (std::size_t i = 0; i < Count; ++i) {
        out.row(subject, rows[i], labels, counters.read(static_cast<Enum>(i)));
    }
}

void add_history(Families& out, Appliance& appliance, const feed::History& history) {
    add_counts(out, "history", feed::HistoryCount_rows, history.counters(), {});
    out.gauge("history_blocks", "Blocks that are kept now", {},
              static_cast<double>(history.blocks()));
    out.gauge("history_bytes", "Memory of the blocks that are kept now", {},
              static_cast<double>(history.used_bytes()));
    out.gauge("history_oldest_timestamp_seconds",
              "When the oldest block that is kept arrived; 0: none is", {},
              static_cast<double>(history.oldest_ts_ns()) * 1e-9);
    for (std::size_t i = 0; i < appliance.pollers_count(); ++i) {
        const PollerTask& poller = appliance.poller(i);
        if (poller.history() != nullptr) {
            out.counter("history_skipped_blocks_total",
                        "Blocks not kept because the road from the poller had no room for them",
                        {{"core", poller.name()}}, number(poller.history()->skipped()));
        }
    }
}

void add_peer_server(Families& out, const peer::Server& server) {
    add_counts(out, "peer_server", peer::ServerCount_rows, server.counters().counts, {});
    out.gauge("peer_server_open_connections", "Connections of peers that are open now", {},
              static_cast<double>(server.connections()));
    add_reasons(out, "peer_server_refusals_total", "Requests and connections of peers refused",
                peer::PeerRefusal_rows, server.counters().refusals, {});
    add_reasons(out, "peer_server_ends_total", "Connections of peers that ended",
                peer::SessionEnd_rows, server.counters().ends, {});
}

void add_peer_client(Families& out, const peer::ClientStatus& client) {
    const Labels labels{{"peer", client.peer}};
    add_counts(out, "peer_client", peer::ClientCount_rows, client.counters.counts, labels);
    out.gauge("peer_client_connected", "1: the peer can be asked", labels,
              number(client.connected));
    add_reasons(out, "peer_client_dropped_blocks_total", "Blocks of the peer that were dropped",
                peer::PeerDrop_rows, client.counters.drops, labels);
    add_reasons(out, "peer_client_refused_requests_total", "Requests that the peer did not fulfil",
                feed::Refusal_rows, client.counters.refusals, labels);
    add_reasons(out, "peer_client_refusals_total", "Connections that one side refused",
                peer::PeerRefusal_rows, client.counters.why, labels);
    add_reasons(out, "peer_client_ends_total", "Connections to the peer that ended",
                peer::SessionEnd_rows, client.counters.ends, labels);
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
        out.gauge("peer_state_whole", "1: the state of every line's series was taken from a peer",
                  {}, number(state->whole()));
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
    const auto bytes = [&out](const char* name, const char* help, std::uint64_t value) {
        out.gauge(name, help, {}, static_cast<double>(value));
    };
    bytes("allocator_allocated_bytes", "Heap memory in use by the program", statistics->allocated);
    bytes("allocator_active_bytes", "Heap pages that hold what is in use", statistics->active);
    bytes("allocator_metadata_bytes", "The allocator's own memory", statistics->metadata);
    bytes("allocator_resident_bytes", "Heap in physical memory", statistics->resident);
    bytes("allocator_mapped_bytes", "Heap mapped from the system", statistics->mapped);
    bytes("allocator_retained_bytes", "Heap kept for later instead of given back",
          statistics->retained);
}

void add_program(Families& out, Appliance& appliance) {
    out.gauge("build_info", "Always 1; what is running",
              {{"version", version}, {"compiler", __VERSION__}}, 1);
    out.gauge("running_seconds", "Since the pollers started", {}, appliance.seconds());
    const nic::Clock& clock = appliance.clock();
    out.gauge("clock_error_seconds", "How far the program's clock may be off the machine's", {},
              seconds(clock.error_ns()));
    if (clock.uses_tsc()) {
        out.gauge("clock_tick_seconds",
                  "A tick of the time stamp counter, as calibrated against the machine's clock. "
                  "Absent where the system is the clock",
                  {}, clock.tick_ns() * 1e-9);
    }
    out.gauge("clock_tsc", "1 where the time stamp counter is the clock, 0 where the system is", {},
              clock.uses_tsc() ? 1 : 0);
    out.counter("clock_steps_total", "Times that the machine's clock was seen to jump", {},
                static_cast<double>(clock.steps_count()));
    const ReloadCounters& reloads = appliance.reloads();
    add_rows(out, "config", ReloadCount_rows,
             [&](std::size_t i) { return reloads.read(static_cast<ReloadCount>(i)); }, {});
    out.gauge("config_reload_refused",
              "1 where the last reload was refused: the file is not what runs", {},
              static_cast<double>(reloads.last_refused.read()));
    const SeriesList& series = appliance.series();
    if (!series.file.empty()) {
        add_rows(out, "series_map", SeriesRow_rows, [&](std::size_t i) { return series.rows[i]; },
                 {});
    }
    out.counter("hot_allocations_total",
                "Times that poll and actor threads asked for heap memory after their start", {},
                static_cast<double>(heap_guard::allocations.load(std::memory_order_relaxed)));
    add_allocator(out);
}

}  // namespace

std::vector<prometheus::MetricFamily> appliance_metrics(Appliance& appliance,
                                                        const LogCounters& log) {
    Families out(appliance.config().name);
    add_program(out, appliance);
    add_rows(out, "log", LogCount_rows,
             [&](std::size_t i) { return log.read(static_cast<LogCount>(i)); }, {});
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
