// path: cold
//
// All metrics that are not rows of a table of counters: name (after the prefix pinstrike_), type
// and meaning. The endpoint and `explain` use this table. A published name is never changed, only
// retired.
#pragma once

#include "actors/core/actor_report.h"
#include "config/rows.h"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace pinstrike::actors {

inline constexpr std::string_view metric_prefix = "pinstrike_";

// clang-format off
#define PINSTRIKE_METRICS(ROW) \
    ROW(build_info, gauge, "Always 1; what is running") \
    ROW(running_seconds, gauge, "Since the pollers started") \
    ROW(hot_allocations_total, counter, \
        "Times that poll and actor threads asked for heap memory after their start") \
    ROW(reverse_path_dropped_packets_total, counter, \
        "Packets that the kernel's reverse path filter dropped in this network namespace, on any " \
        "interface, since it was made. Absent without a port of kind uring") \
    ROW(device_missed_packets_total, counter, \
        "Packets the device had no free descriptor for. Absent where the driver does not " \
        "count them") \
    ROW(device_no_buffer_packets_total, counter, \
        "Packets for which there was no buffer. Absent where the driver does not count them") \
    ROW(port_errors_total, counter, \
        "Packets the device received damaged, receives the kernel refused, captures that end " \
        "within a packet. Absent where the driver does not count them") \
    ROW(port_link_up, gauge, "1 while the port's link is up") \
    ROW(port_packets_total, counter, "Packets received") \
    ROW(port_bytes_total, counter, "Bytes of the packets received, Ethernet header included") \
    ROW(port_handed_packets_total, counter, "Packets handed to lines: what was not dropped") \
    ROW(port_full_bursts_total, counter, "Receives that filled the burst: more was waiting") \
    ROW(port_link_changes_total, counter, "Times that the link went down or came up") \
    ROW(port_dropped_packets_total, counter, "Packets dropped before any line") \
    ROW(stream_state, gauge, "0 up, 1 silent, 2 down") \
    ROW(stream_last_packet_timestamp_seconds, gauge, \
        "When its latest packet was noticed; 0: none has come") \
    ROW(stream_lead_seconds, histogram, \
        "How much earlier than the line's other stream it brought a block that it brought " \
        "first; one block at a time. How often: by stream_accepted_messages_total") \
    ROW(line_retransmission_packets_total, counter, "Datagrams of the retransmission groups") \
    ROW(line_down, gauge, "1 while neither stream is heard though the line's session is on") \
    ROW(line_rejected_blocks_total, counter, \
        "Blocks refused, whole or from some message on, or remarked upon") \
    ROW(loop_steps_total, counter, "Turns of a poll or actor thread's loop") \
    ROW(loop_busy_seconds_total, counter, "Time in turns that found work") \
    ROW(loop_idle_seconds_total, counter, "Time in turns that found none") \
    ROW(loop_busy_ratio, gauge, "Share of the time since the start that turns with work took") \
    ROW(loop_longest_step_seconds, gauge, "Longest turn that found work, since the start") \
    ROW(loop_stop_seconds, histogram, \
        "Stops of the machine: turns of 5 us or longer in which the thread did nothing. Those " \
        "that hit it at work are not found") \
    ROW(loop_seconds_total, counter, "At /latency. The time of all turns") \
    ROW(latency_seconds, histogram, \
        "By stage. exchange_to_decoded: from the exchange's block timestamp to the end of " \
        "decoding, each packet as the first of its burst; its error is at least that of the " \
        "clock. receive_to_actor: from the arrival at this host to the turn of the core that " \
        "hands it to its actors, each message as the first of its batch. Of a replay at a " \
        "pace: from when it was due") \
    ROW(latency_disturbed_seconds, histogram, \
        "Of latency_seconds, those that overlap a stop of the machine (loop_stop_seconds) of " \
        "one of their threads, or the backlog it left") \
    ROW(latency_from_due, gauge, "At /latency. 1: a replay, measured from when packets were due") \
    ROW(ring_routed_messages_total, counter, "Messages meant for the core") \
    ROW(ring_pushed_messages_total, counter, "Messages written to the ring") \
    ROW(ring_refused_messages_total, counter, \
        "Messages that found the ring full: the core is told of a gap") \
    ROW(ring_broadcast_records_total, counter, "Controls, gaps and line states written") \
    ROW(ring_untold_repairs_total, counter, "Repairs not told for want of room") \
    ROW(ring_waits_total, counter, "Times that the poller waited for room (replays)") \
    ROW(ring_high_water_records, gauge, "Most records found waiting, since the start") \
    ROW(ring_capacity_records, gauge, "Records of 64 bytes the ring holds") \
    ROW(thread_refused_calls_total, counter, \
        "System calls that a hot thread made against its list, and that were not made") \
    ROW(actor_events_total, counter, "Data messages given to the actor") \
    ROW(actor_batches_total, counter, "Batches given to the actor") \
    ROW(actor_waiting_seconds, histogram, \
        "From a message's arrival at this host to the actor's call, each as the first of its " \
        "batch; one batch in 8") \
    ROW(actor_service_seconds, histogram, "Time in the actor's call, sampled by the batch") \
    ROW(core_events_total, counter, "Data messages taken from the rings") \
    ROW(core_gap_events_total, counter, "Gaps and repairs taken from the rings") \
    ROW(core_control_events_total, counter, "Controls taken from the rings") \
    ROW(core_line_state_events_total, counter, "Line states taken from the rings") \
    ROW(core_line_mark_events_total, counter, "Marks of how far lines have come, from the rings") \
    ROW(core_announced_series_total, counter, \
        "Series of the day's file that the actors were told of before the first message") \
    ROW(core_records_total, counter, "Records of 64 bytes taken from the rings") \
    ROW(core_batches_total, counter, "Batches taken from the rings") \
    ROW(core_sleeps_total, counter, "Times that the thread went to sleep for want of work") \
    ROW(recovery_running, gauge, \
        "1: the thread of recovery and peers runs. 0: it ended by itself, over an error. Absent " \
        "where there is none") \
    ROW(recovery_dropped_notes_total, counter, \
        "Notes of what is missing or found that the ring from the poller had no room for") \
    ROW(recovery_taken_blocks_total, counter, "Blocks that the poller took from recovery") \
    ROW(recovery_refused_requests_total, counter, "Requests that a source did not fulfil") \
    ROW(history_blocks, gauge, "Blocks that are kept now") \
    ROW(history_bytes, gauge, "Memory of the blocks that are kept now") \
    ROW(history_oldest_timestamp_seconds, gauge, \
        "When the oldest block that is kept arrived; 0: none is") \
    ROW(history_skipped_blocks_total, counter, \
        "Blocks not kept because the ring from the poller had no room for them") \
    ROW(peer_server_open_connections, gauge, "Connections of peers that are open now") \
    ROW(peer_client_connected, gauge, "1: the peer can be asked") \
    ROW(peer_state_whole, gauge, "1: the state of every line's series was taken from a peer") \
    ROW(peer_server_refusals_total, counter, "Requests and connections of peers refused") \
    ROW(peer_server_ends_total, counter, "Connections of peers that ended") \
    ROW(peer_client_dropped_blocks_total, counter, "Blocks of the peer that were dropped") \
    ROW(peer_client_refused_requests_total, counter, "Requests that the peer did not fulfil") \
    ROW(peer_client_refusals_total, counter, "Connections that one side refused") \
    ROW(peer_client_ends_total, counter, "Connections to the peer that ended") \
    ROW(clock_error_seconds, gauge, "How far the program's clock may be off the machine's") \
    ROW(clock_tick_seconds, gauge, \
        "A tick of the time stamp counter, as calibrated against the machine's clock. Absent " \
        "where the system is the clock") \
    ROW(clock_tsc, gauge, "1 where the time stamp counter is the clock, 0 where the system is") \
    ROW(clock_steps_total, counter, "Times that the machine's clock was seen to jump") \
    ROW(config_reload_refused, gauge, \
        "1 where the last reload was refused: the file is not what runs") \
    ROW(allocator_allocated_bytes, gauge, "Heap memory in use by the program") \
    ROW(allocator_active_bytes, gauge, "Heap pages that hold what is in use") \
    ROW(allocator_metadata_bytes, gauge, "The allocator's own memory") \
    ROW(allocator_resident_bytes, gauge, "Heap in physical memory") \
    ROW(allocator_mapped_bytes, gauge, "Heap mapped from the system") \
    ROW(allocator_retained_bytes, gauge, "Heap kept for later instead of given back") \
    ROW(fine_latency_seconds, histogram, "At /latency. By stage, in all buckets") \
    ROW(fine_latency_highest_seconds, gauge, \
        "At /latency. The highest value of fine_latency_seconds") \
    ROW(fine_latency_disturbed_seconds, histogram, \
        "At /latency. Of fine_latency_seconds, those that overlap a stop of the machine") \
    ROW(fine_latency_disturbed_highest_seconds, gauge, \
        "At /latency. The highest value of fine_latency_disturbed_seconds") \
    ROW(fine_loop_away_seconds, histogram, "At /latency. Turns that were not just an empty look") \
    ROW(fine_loop_away_highest_seconds, gauge, \
        "At /latency. The highest value of fine_loop_away_seconds") \
    ROW(fine_loop_stop_seconds, histogram, \
        "At /latency. Of fine_loop_away_seconds, stops of the machine") \
    ROW(fine_loop_stop_highest_seconds, gauge, \
        "At /latency. The highest value of fine_loop_stop_seconds")
// clang-format on

enum class MetricKind : unsigned char { counter, gauge, histogram };

/// One row of the table.
struct MetricRow {
    std::string_view name;
    MetricKind kind;
    std::string_view sentence;
};

#define PINSTRIKE_METRIC_ENUM(name, kind, sentence) name,
#define PINSTRIKE_METRIC_ROW(name, kind, sentence) MetricRow{#name, MetricKind::kind, sentence},
#define PINSTRIKE_METRIC_ONE(name, kind, sentence) +1

enum class Metric : unsigned char { PINSTRIKE_METRICS(PINSTRIKE_METRIC_ENUM) };

inline constexpr std::size_t Metric_count = 0 PINSTRIKE_METRICS(PINSTRIKE_METRIC_ONE);

inline constexpr std::array<MetricRow, Metric_count> Metric_rows{
    {PINSTRIKE_METRICS(PINSTRIKE_METRIC_ROW)}};

constexpr const MetricRow& row_of(Metric metric) {
    return Metric_rows[static_cast<std::size_t>(metric)];
}

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
