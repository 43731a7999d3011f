// path: cold
//
// All metrics that are not rows of a table of counters: name (after the prefix pinstrike_), type
// and meaning. The endpoint and `explain` use this table. A published name is never changed, only
// retired.
#pragma once

#include "actors/core/actor_report.h"
#include "config/rows.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace pinstrike::actors {

inline constexpr std::string_view metric_prefix = "pinstrike_";

// clang-format off
#define PINSTRIKE_METRICS(ROW) \
    ROW(build_info, gauge, "Always 1; the version is in its labels") \
    ROW(running_seconds, gauge, "Time since the pollers started") \
    ROW(hot_allocations_total, counter, \
        "Heap allocations of poll and actor threads after their start") \
    ROW(reverse_path_dropped_packets_total, counter, \
        "Packets that the kernel's reverse path filter dropped in this network namespace, on any " \
        "interface, since it was made. Absent without a port of kind uring") \
    ROW(device_missed_packets_total, counter, \
        "Packets for which the device had no free descriptor. Absent where the driver does not " \
        "count them") \
    ROW(device_no_buffer_packets_total, counter, \
        "Packets for which there was no buffer. Absent where the driver does not count them") \
    ROW(port_errors_total, counter, \
        "Packets that the device received damaged, receives that the kernel refused, and " \
        "captures that end within a packet. Absent where the driver does not count them") \
    ROW(port_link_up, gauge, "1 while the port's link is up") \
    ROW(port_handed_packets_total, counter, "Packets passed to lines: those not dropped") \
    ROW(port_dropped_packets_total, counter, "Packets dropped before any line") \
    ROW(stream_state, gauge, "0 up, 1 silent, 2 down. Absent when line_down is") \
    ROW(stream_last_packet_timestamp_seconds, gauge, \
        "Time at which the poller noticed the stream's latest packet; 0: none yet") \
    ROW(stream_lead_seconds, histogram, \
        "Stream skew: how much earlier than the line's other stream it delivered a block that it " \
        "delivered first; one block at a time. How often: stream_accepted_messages_total") \
    ROW(line_retransmission_packets_total, counter, "Datagrams of the retransmission groups") \
    ROW(line_down, gauge, \
        "1 while neither stream has packets although the line's session is on. Absent outside " \
        "its session, and for a line that sends no line integrity") \
    ROW(line_rejected_blocks_total, counter, \
        "Blocks refused as a whole or from some message on, or accepted with a remark") \
    ROW(loop_steps_total, counter, "Loop steps of a poll or actor thread") \
    ROW(loop_busy_seconds_total, counter, "Time in loop steps that found work") \
    ROW(loop_idle_seconds_total, counter, "Time in loop steps that found none") \
    ROW(loop_busy_ratio, gauge, \
        "Share of the time since the start that the thread spent in loop steps that found work") \
    ROW(loop_longest_step_seconds, gauge, \
        "Longest loop step that found work, since the start or `ctl clear`") \
    ROW(loop_stop_seconds, histogram, \
        "Preemption: loop steps of 5 us or longer in which the thread did nothing. Preemption " \
        "during work is not detected") \
    ROW(latency_seconds, histogram, \
        "By stage. exchange_to_decoded: from the exchange's block timestamp to the end of " \
        "decoding, each packet as the first of its burst; its error is at least that of the " \
        "clock. receive_to_actor: from the arrival at this host to the loop step in which the " \
        "core passes it to its actors, each message as the first of its batch. In a replay at a " \
        "pace: from the time when it was due") \
    ROW(latency_disturbed_seconds, histogram, \
        "Of latency_seconds, those that overlap a preemption (loop_stop_seconds) of one of their " \
        "threads, or the backlog it left") \
    ROW(ring_high_water_records, gauge, \
        "Most records found waiting, since the start or `ctl clear`") \
    ROW(ring_capacity_records, gauge, "Records of 64 bytes the ring holds") \
    ROW(thread_refused_calls_total, counter, \
        "System calls of a hot thread that are not on its list and were blocked") \
    ROW(actor_events_total, counter, "Data messages passed to the actor") \
    ROW(actor_batches_total, counter, "Batches passed to the actor") \
    ROW(actor_waiting_seconds, histogram, \
        "From a message's arrival at this host to the actor's call, each as the first of its " \
        "batch; one batch in 8") \
    ROW(actor_service_seconds, histogram, "Time in the actor's call, sampled by the batch") \
    ROW(core_sleeps_total, counter, "Times that the thread went to sleep because it had no work") \
    ROW(published_bytes, gauge, "Size of the published memory. Absent where nothing is published") \
    ROW(published_start_timestamp_seconds, gauge, \
        "Time of the start that created the published memory, by which readers notice a restart") \
    ROW(published_reader_wakeups_total, counter, \
        "Readers woken from waiting for the streams of events") \
    ROW(published_stream_records_total, counter, \
        "Position of the core's stream: records of 64 bytes written. Absent without a stream") \
    ROW(recovery_running, gauge, \
        "1: the thread of recovery and peers runs. 0: it ended because of an error. Absent where " \
        "there is none") \
    ROW(recovery_dropped_notes_total, counter, \
        "Notes about missing or found numbers that did not fit in the ring from the poller") \
    ROW(recovery_taken_blocks_total, counter, "Blocks that the poller took from recovery") \
    ROW(recovery_refused_requests_total, counter, \
        "Requests that a source did not answer completely") \
    ROW(history_blocks, gauge, "Blocks kept now") \
    ROW(history_bytes, gauge, "Memory of the blocks kept now") \
    ROW(history_oldest_timestamp_seconds, gauge, \
        "When the oldest block kept was received; 0: none is kept") \
    ROW(history_skipped_blocks_total, counter, \
        "Blocks not kept because they did not fit in the ring from the poller") \
    ROW(recorder_running, gauge, \
        "1: the recorder's thread runs. 0: it ended because of an error. Absent where nothing is " \
        "recorded") \
    ROW(recorder_failing, gauge, \
        "1: the disk is full, gone or refuses, and the recorder tries again each second") \
    ROW(recorder_disk_full, gauge, "1: it fails because the disk is full") \
    ROW(recorder_packets_total, counter, "Packets given to the recorder") \
    ROW(recorder_not_recorded_packets_total, counter, \
        "Packets that found the recorder's memory full") \
    ROW(recorder_missing_packets_total, counter, \
        "The same packets of all pollers, as soon as the recorder's thread has found the reason") \
    ROW(recorder_filtered_packets_total, counter, \
        "Packets that the config does not want on disk (record.streams, record.lines)") \
    ROW(recorder_longest_write_seconds, gauge, \
        "Longest time from the submission of a chunk until it was on disk, since the start") \
    ROW(recorder_longest_pause_seconds, gauge, \
        "Longest time between two steps of the recorder's thread, since the start") \
    ROW(recorder_snapshot_timestamp_seconds, gauge, \
        "Time at which the latest snapshot of the books began that is on disk. 0: there is none " \
        "yet") \
    ROW(recorder_snapshot_interval_seconds, gauge, \
        "Time from the start of one snapshot to the start of the next, by the config. 0: none is " \
        "written") \
    ROW(recorder_snapshot_series, gauge, "States of series in that snapshot") \
    ROW(recorder_recovery_succeeded, gauge, \
        "1: at the start the books could take the recorded state. 0 here and in " \
        "recorder_recovery_failed: not yet, not wanted (record.recover), or peers gave the state") \
    ROW(recorder_recovery_failed, gauge, \
        "1: at the start the books could not take the recorded state, or only a part of it") \
    ROW(recorder_recovered_series, gauge, \
        "States of series that the books took from the recording at the start") \
    ROW(recorder_missed_before_start_messages, gauge, \
        "Messages between the end of the recording and the first one of each line since the " \
        "start, as far as they are known") \
    ROW(peer_server_open_connections, gauge, "Connections of peers that are open now") \
    ROW(peer_client_connected, gauge, "1: the peer is connected and can be asked") \
    ROW(peer_state_whole, gauge, "1: the state of every line's series was received from a peer") \
    ROW(peer_server_refusals_total, counter, "Requests and connections of peers refused") \
    ROW(peer_server_ends_total, counter, "Connections of peers that ended") \
    ROW(peer_client_dropped_blocks_total, counter, "Blocks of the peer that were dropped") \
    ROW(peer_client_refused_requests_total, counter, \
        "Requests that the peer did not answer completely") \
    ROW(peer_client_refusals_total, counter, "Connections that one side refused") \
    ROW(peer_client_ends_total, counter, "Connections to the peer that ended") \
    ROW(clock_error_seconds, gauge, \
        "Bound on the error of the program's clock against the system clock") \
    ROW(clock_tick_seconds, gauge, \
        "A tick of the time stamp counter, as calibrated against the system clock. Absent where " \
        "the system clock is used") \
    ROW(clock_tsc, gauge, \
        "1 where the time stamp counter is the clock, 0 where the system clock is used") \
    ROW(clock_steps_total, counter, "Times that the system clock was seen to jump") \
    ROW(config_reload_refused, gauge, \
        "1 where the last reload was refused: the file differs from the config in force") \
    ROW(admin_untaken_connections_total, counter, \
        "Times that the admin socket could not accept a connection, usually because descriptors " \
        "ran out; it tries again every second") \
    ROW(bridge_stalled_seconds, gauge, \
        "How long the bridge's thread has made no progress; below 1 is normal") \
    ROW(bridge_joined_hosts, gauge, "Connections of joining hosts, also before their first frame") \
    ROW(bridge_current_hosts, gauge, \
        "Of these, connections that have a whole state and follow the events") \
    ROW(bridge_untaken_bytes, gauge, \
        "Bytes sent to joining hosts that have not taken them yet; at most 4 MiB each") \
    ROW(bridge_live, gauge, \
        "1: the joining side has a whole state and publishes the feed on its host") \
    ROW(bridge_open_lines, gauge, \
        "Lines for which the bridge does not know yet which numbers were not carried") \
    ROW(gateway_feed_live, gauge, "1: the feed that the gateway serves is live") \
    ROW(gateway_stalled_seconds, gauge, \
        "How long the gateway's thread has made no progress; below 1 is normal") \
    ROW(gateway_keys_refused, gauge, \
        "1 where the last reload of the gateway's keys was refused: the keys before are in force") \
    ROW(gateway_connections, gauge, "Connections of clients, also before their login") \
    ROW(gateway_instruments, gauge, "Series that the gateway knows") \
    ROW(gateway_waiting_events, gauge, "Events that wait for the id of their series") \
    ROW(gateway_refused_connections_total, counter, \
        "Connections that were closed at once, because too many were open or descriptors ran out") \
    ROW(gateway_unlogged_sessions_total, counter, \
        "Lines that the gateway's access log lacks, because it could not be written") \
    ROW(gateway_ended_sessions_total, counter, "Sessions of the gateway that ended") \
    ROW(gateway_write_seconds, histogram, \
        "From the receipt of an event until its record is given to a client's socket. All " \
        "records of a write count with the age of the oldest. A replayed day does not count") \
    ROW(gateway_sessions, gauge, "Sessions of a user that are open") \
    ROW(gateway_queue_bytes, gauge, "Bytes that wait for the user's clients") \
    ROW(gateway_waiting_records, gauge, "Records that wait for the user's clients") \
    ROW(gateway_behind_seconds, gauge, \
        "Age of the oldest record that waits, of the user's client that is furthest behind") \
    ROW(kafka_feed_live, gauge, "1: the feed that the Kafka producer reads is live") \
    ROW(kafka_stalled_seconds, gauge, \
        "How long the Kafka producer's thread has made no progress; below 1 is normal") \
    ROW(kafka_brokers_down, gauge, \
        "1: messages wait, no broker could be reached, and none was acknowledged since") \
    ROW(kafka_instruments, gauge, "Series that the Kafka producer knows") \
    ROW(kafka_waiting_events, gauge, "Events that wait for the id of their series") \
    ROW(kafka_waiting_definitions, gauge, "Definitions that wait until the queue has room") \
    ROW(kafka_queue_messages, gauge, "Messages that wait for their acknowledgement") \
    ROW(kafka_queue_bytes, gauge, "Bytes of records in these messages") \
    ROW(kafka_queue_max_bytes, gauge, \
        "Most bytes that may wait, by the config. Beyond, records are dropped") \
    ROW(kafka_acknowledge_seconds, histogram, \
        "From the time that a message is queued until the brokers acknowledge it") \
    ROW(allocator_allocated_bytes, gauge, "Heap memory in use by the program") \
    ROW(allocator_active_bytes, gauge, "Heap pages that hold what is in use") \
    ROW(allocator_metadata_bytes, gauge, "The allocator's own memory") \
    ROW(allocator_resident_bytes, gauge, "Heap in physical memory") \
    ROW(allocator_mapped_bytes, gauge, "Heap mapped from the system") \
    ROW(allocator_retained_bytes, gauge, "Heap kept for later instead of given back")
// clang-format on

enum class MetricKind : unsigned char { counter, gauge, histogram };

/// One row of the table.
struct MetricRow {
    std::string_view name;
    MetricKind kind;
    std::string_view sentence;
};

#define PINSTRIKE_METRIC_ROW(name, kind, sentence) MetricRow{#name, MetricKind::kind, sentence},

PINSTRIKE_TABLE(Metric, MetricRow, PINSTRIKE_METRICS, PINSTRIKE_METRIC_ROW)

/// "counter", "gauge", "histogram"
[[nodiscard]] std::string_view word_of(MetricKind kind);

/// <subject>_<name>_<unit>, without the unit if the name contains it as a word.
[[nodiscard]] std::string row_name(std::string_view subject, const Row& row);

/// Whether the figure can decrease, such as "line", lost: a message found later is no longer lost.
[[nodiscard]] bool can_fall(std::string_view subject, const Row& row);

/// The name of the metric for a row of a table of counters, without prefix: row_name, with _total
/// unless it can fall.
[[nodiscard]] std::string metric_name(std::string_view subject, const Row& row);

/// The same for an actor's table.
[[nodiscard]] std::string metric_name(const ActorTable& table, std::size_t row);

}  // namespace pinstrike::actors
