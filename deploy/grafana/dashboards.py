#!/usr/bin/env python3
"""Grafana's dashboards of Pinstrike.

    dashboards.py FOLDER

Writes them into FOLDER as JSON, one file each, for Grafana to load by provisioning.yml. This file
defines what each panel shows, in which unit and by which query, and which alerts lead to it.
"""

import json
import sys
from pathlib import Path

from panels import (ALERTS, BLUE, GREEN, ORANGE, RATE, RED, YELLOW, Dashboard, heat, lines, query, squares, stat,
                    states, steps, variable)

AT_ALL = steps(GREEN, (1e-9, RED))  # one is too many
STREAM_STATES = states(up=(0, GREEN), silent=(1, ORANGE), down=(2, RED))

def worst(expr, *labels, of="max", name=""):
    """A query by feed and these labels; of several instances of a feed, the worst."""
    kept = ("feed", *labels)
    return query(f"{of} by ({', '.join(kept)}) ({expr})",
                 " ".join(f"{{{{{label}}}}}" for label in kept) + name)


def rate(counter, *labels, on="{S}", **more):
    return worst(f"rate({counter}{{{on}}}{RATE})", *labels, **more)


def gained(counter, *labels, **more):
    """What the counter gained in the time range, as worst()."""
    return worst(f"increase({counter}{{{{S}}}}[$__range])", *labels, **more)


def all_gained(counter):
    """What all selected instances together gained in the time range."""
    return f"sum(increase({counter}{{{{S}}}}[$__range]))"


def busy(*alerts):
    return lines("Busy", "Share of each hot thread's time in loop steps with work", "percentunit", [BUSY], most=1,
                 marked=True, thresholds=steps(GREEN, (0.7, YELLOW), (0.9, RED)), alerts=alerts)


def no_progress(part, of, alert):
    return stat("No progress", f"How long the {of} has made no progress, at most", "s",
                f"max(pinstrike_{part}_stalled_seconds{{{{S}}}})", thresholds=steps(GREEN, (1, YELLOW), (5, RED)),
                alerts=[alert])


def events_read(part):
    return lines("Events read", "From the feed's memory; quotes and trades are parts of it", "cps",
                 [rate(f"pinstrike_{part}_{name}_records_total", name=f" {name}")
                  for name in ("read", "quotes", "trades")], fill=0)


def without_a_place(part):
    return lines("Without a place", "Cancels of trades, trades after the end of their bar, and messages of unknown "
                 "participants; events whose series has no id yet", "short",
                 [*(gained(f"pinstrike_{part}_{name}_records_total", of="sum", name=f" {name.replace('_', ' ')}")
                    for name in ("cancels", "late_trades", "unknown_participants", "without_id")),
                  worst(f"pinstrike_{part}_waiting_events{{{{S}}}}", of="sum", name=" waiting")], fill=0)


NO_RECORD = "The config has no section record"
HIGHEST = "16.8 ms includes everything longer"  # the last bound of every histogram
BUSY = worst(f"rate(pinstrike_loop_busy_seconds_total{{{{S}}}}{RATE}) / "
             f"(rate(pinstrike_loop_busy_seconds_total{{{{S}}}}{RATE}) + "
             f"rate(pinstrike_loop_idle_seconds_total{{{{S}}}}{RATE}))", "thread")


def percentiles(histogram, by, *of):
    """Queries of these percentiles, one line each; `by`: the labels kept."""
    return [query(f"histogram_quantile({share}, sum by ({by}, le) (rate({histogram}{RATE})))",
                  f"p{share * 100:g} " + " ".join(f"{{{{{label.strip()}}}}}"
                                                  for label in by.split(",")))
            for share in of]


OVERVIEW = Dashboard(
    "pinstrike-overview", "Pinstrike: overview", "State of the feed at a glance", [
        stat("Lines heard", "Lines with packets on at least one stream, of those configured", "percentunit",
             "1 - avg(pinstrike_line_down{{S}})", thresholds=steps(RED, (0.99, YELLOW), (1, GREEN)), least=0, most=1,
             alerts=["PinstrikeFeedSilent"]),
        stat("Streams silent", "Streams A and B without packets though their session is on", "short",
             "sum(pinstrike_stream_state{{S}} > bool 0)", thresholds=steps(GREEN, (1, ORANGE), (20, RED))),
        stat("Messages", "Delivered to the cores, each once", "mps",
             f"sum(rate(pinstrike_line_delivered_messages_total{{{{S}}}}{RATE}))", thresholds=steps(BLUE)),
        stat("Missing now", "Numbers declared lost on all lines and not found since the start", "short",
             "sum(pinstrike_line_lost_messages{{S}})", thresholds=AT_ALL),
        stat("Refused by rings", "Messages refused by a full ring in this time range", "short",
             all_gained("pinstrike_ring_refused_messages_total"), thresholds=AT_ALL),
        stat("Up since", "Time since the youngest of the selected instances started", "s",
             "min(pinstrike_running_seconds{{S}})", thresholds=steps(ORANGE, (300, GREEN)),
             alerts=["PinstrikeNotScraped", "PinstrikeRestarts", "PinstrikeReloadRefused"]),
        lines("Alerts", "How many of the alert rules fire", "short",
              [query(f"count by (alertname) ({ALERTS}) "
                     "or label_replace(vector(0), \"alertname\", \"none\", \"\", \"\")",
                     "{{alertname}}")], width=24, height=6, fill=30),
        lines("Messages by feed", "Delivered to the cores, each once; packets received beside", "cps",
              [query(f"sum by (feed) (rate(pinstrike_line_delivered_messages_total{{{{S}}}}{RATE}))",
                     "{{feed}} messages"),
               query(f"sum by (feed) (rate(pinstrike_port_packets_total{{{{S}}}}{RATE}))", "{{feed}} packets")],
              least=None),
        lines("Missing", "Numbers declared lost by feed and not found since; falls when late messages "
              "are received", "short", [query("sum by (feed) (pinstrike_line_lost_messages{{S}})", "{{feed}}")],
              alerts=["PinstrikeMessagesLost"]),
        lines("Latency, 99th percentile", "Of all messages' batches, by stage; preemption included. "
              + HIGHEST, "s",
              percentiles("pinstrike_latency_seconds_bucket{{S}}", "feed, stage", 0.99),
              log=True, fill=0),
        busy(),
    ])

LINE = variable("line", "Line", 'feed=~"$feed",instance=~"$instance"', "OPRA's line number",
                "pinstrike_line_delivered_messages_total")
ON_LINE = '{S},line=~"$line"'


def in_order(expr):
    """Prometheus sorts labels as text: lines get three digits."""
    for short in ("..?", ".."):
        expr = f'label_replace({expr}, "line", "0$1", "line", "({short})")'
    return expr


def streams(stream):
    """The state of one stream of every line."""
    state = f'pinstrike_stream_state{{{ON_LINE},stream="{stream}"}}'
    return squares(f"Stream {stream}", "Silent and down are by the configured silence, in session "
                   "hours only", "short", [worst(in_order(state), "line")],
                   width=8, height=40, mappings=STREAM_STATES)


DELIVERED = (f"rate(pinstrike_stream_messages_total{{{ON_LINE}}}{RATE}) / ignoring (stream) "
           f"group_left () rate(pinstrike_line_highest_messages_total{{{ON_LINE}}}{RATE})")

LINES = Dashboard(
    "pinstrike-lines", "Pinstrike: lines", "All lines and both streams of each", [
        squares("Streams not heard", "By the configured silence, in session hours only. All streams "
                "are shown below", "short",
                [worst(f"pinstrike_stream_state{{{ON_LINE}}} > 0", "line", "stream")],
                width=24, height=7, mappings=STREAM_STATES, empty="All streams are up",
                alerts=["PinstrikeStreamSilent", "PinstrikeLineDown"]),
        lines("Missing on a stream", "Share of a line's messages that a stream did not deliver: its "
              "own loss, filled by the other", "percentunit",
              [worst(f"clamp_min(1 - {DELIVERED}, 0)", "line", "stream")], most=1, marked=True, fill=0,
              thresholds=steps(GREEN, (0.01, ORANGE)), alerts=["PinstrikeStreamLoses"]),
        lines("Skew", "How much earlier the named stream was than the other, 99th percentile of "
              "the blocks that it delivered first. " + HIGHEST, "s",
              percentiles(f"pinstrike_stream_lead_seconds_bucket{{{ON_LINE}}}",
                          "feed, line, stream", 0.99),
              marked=True, fill=0, log=True, thresholds=steps(GREEN, (0.002, ORANGE)),
              alerts=["PinstrikeStreamsApart"]),
        lines("Gaps", "Gaps declared a minute", "cpm",
              [worst(f"60 * rate(pinstrike_line_gaps_total{{{ON_LINE}}}{RATE})", "line")], marked=True, fill=0,
              thresholds=steps(GREEN, (10, RED)), alerts=["PinstrikeManyGaps", "PinstrikeResetsInferred"]),
        lines("Missing", "Numbers declared lost and not found since, by line", "short",
              [worst(f"pinstrike_line_lost_messages{{{ON_LINE}}}", "line")], fill=0),
        lines("First stream", "Share of the messages that each stream delivered first: near a half "
              "each if both paths are alike", "percentunit",
              [query("sum by (feed, stream) (rate(pinstrike_stream_accepted_messages_total"
                     f"{{{ON_LINE}}}{RATE})) / ignoring (stream) group_left () sum by (feed) "
                     f"(rate(pinstrike_stream_accepted_messages_total{{{ON_LINE}}}{RATE}))",
                     "{{feed}} {{stream}}")], most=1, fill=0),
        heat("Skew of all lines", "How much earlier the first stream was than the other", "s",
             f"pinstrike_stream_lead_seconds_bucket{{{ON_LINE}}}"),
        lines("Not readable", "Blocks rejected, by reason", "cps",
              [query("sum by (feed, reason) (rate(pinstrike_line_rejected_blocks_total"
                     f"{{{ON_LINE}}}{RATE}))", "{{feed}} {{reason}}")], fill=0,
              alerts=["PinstrikeUndecodable"]),
        lines("Late", "Messages delivered after their number had been declared lost; messages "
              "repaired by retransmission", "mps",
              [rate(f"pinstrike_line_{name}_messages_total", "line", name=f" {name}", on=ON_LINE)
               for name in ("late", "repaired")], fill=0),
        streams("A"),
        streams("B"),
        squares("Rate", "Messages delivered of each line", "mps",
                [worst(in_order("rate(pinstrike_line_delivered_messages_total"
                                f"{{{ON_LINE}}}{RATE})"), "line")],
                width=8, height=40,
                thresholds=steps("#5a5a5a", (1, "dark-blue"), (100, BLUE), (1e3, "light-blue"),
                                 (10e3, GREEN), (100e3, YELLOW), (1e6, ORANGE))),
    ], [LINE])

LATENCY = Dashboard(
    "pinstrike-latency", "Pinstrike: latency",
    "Age of a message when it is decoded, and when its actor receives it", [
        lines("Receive to actor", "From the arrival at this host to the loop step in which the "
              "core passes it to its actors. " + HIGHEST, "s",
              percentiles('pinstrike_latency_seconds_bucket{{S},stage="receive_to_actor"}',
                          "feed, thread", 0.5, 0.99, 0.999),
              marked=True, log=True, fill=0, thresholds=steps(GREEN, (0.0021, RED)),
              alerts=["PinstrikeLatencyHigh"]),
        heat("Receive to actor", "All threads; preemption included", "s",
             'pinstrike_latency_seconds_bucket{{S},stage="receive_to_actor"}'),
        lines("Exchange to decoded", "From the exchange's block timestamp to the end of decoding: "
              "as accurate as both clocks. " + HIGHEST, "s",
              percentiles('pinstrike_latency_seconds_bucket{{S},stage="exchange_to_decoded"}',
                          "feed, thread", 0.5, 0.99, 0.999), log=True, fill=0),
        heat("Exchange to decoded", "All threads; preemption included", "s",
             'pinstrike_latency_seconds_bucket{{S},stage="exchange_to_decoded"}'),
        lines("Overlapping preemption", "Share of the samples, by stage, that overlap a preemption, "
              "whose delay this program does not cause", "percentunit",
              [query("sum by (feed, stage) (rate(pinstrike_latency_disturbed_seconds_count"
                     f"{{{{S}}}}{RATE})) / sum by (feed, stage) (rate("
                     f"pinstrike_latency_seconds_count{{{{S}}}}{RATE}))", "{{feed}} {{stage}}")]),
        lines("Preemption", "Loop steps of 5 us or longer in which a thread did nothing, 99th "
              "percentile", "s",
              percentiles("pinstrike_loop_stop_seconds_bucket{{S}}", "feed, thread", 0.99), log=True,
              fill=0),
        lines("Clock", "Bound on the error of this program's clock against the system clock", "s",
              [worst("pinstrike_clock_error_seconds{{S}}")], marked=True,
              width=24, height=6, log=True, fill=0,
              thresholds=steps(GREEN, (0.001, RED)),
              alerts=["PinstrikeClockUncertain", "PinstrikeClockStepped"]),
    ])

CORE = variable("core", "Core", 'feed=~"$feed",instance=~"$instance"', "Name of an actor core",
                "pinstrike_core_events_total")
ON_CORE = '{S},core=~"$core"'

CORES = Dashboard(
    "pinstrike-cores", "Pinstrike: cores, rings and actors",
    "Whether each thread keeps up, and what it does", [
        busy("PinstrikeThreadBusy"),
        lines("Loop steps", "Of each hot thread: none means that the thread is stalled", "ops",
              [rate("pinstrike_loop_steps_total", "thread", of="min")], alerts=["PinstrikeThreadStalled"]),
        lines("Highest fill of a ring", "Most records found waiting since the start, of the ring's "
              "capacity", "percentunit",
              [worst("pinstrike_ring_high_water_records{{S}} / pinstrike_ring_capacity_records{{S}}", "ring")], most=1,
              marked=True, thresholds=steps(GREEN, (0.8, RED)), alerts=["PinstrikeRingNearlyFull"]),
        lines("Refused by rings", "Messages refused by a full ring: reported to the core as a gap", "mps",
              [rate("pinstrike_ring_refused_messages_total", "ring", of="sum")], alerts=["PinstrikeRingFull"]),
        lines("Messages of a core", "Data messages taken from its rings", "mps",
              [rate("pinstrike_core_events_total", "core", on=ON_CORE)]),
        lines("Messages a batch", "Taken from the rings at a time: more under load", "short",
              [worst(f"rate(pinstrike_core_records_total{{{ON_CORE}}}{RATE}) / "
                     f"rate(pinstrike_core_batches_total{{{ON_CORE}}}{RATE})", "core")]),
        lines("Messages of an actor", "Passed to it", "mps",
              [rate("pinstrike_actor_events_total", "core", "actor", on=ON_CORE)]),
        lines("Service", "Time in the actor's call for a message, mean of the sampled batches", "s",
              [worst(f"rate(pinstrike_actor_service_seconds_sum{{{ON_CORE}}}{RATE}) / "
                     f"rate(pinstrike_actor_service_seconds_count{{{ON_CORE}}}{RATE})", "core",
                     "actor")], log=True, fill=0),
        lines("Waiting", "From a message's arrival at this host to the actor's call", "s",
              percentiles(f"pinstrike_actor_waiting_seconds_bucket{{{ON_CORE}}}", "feed, core, actor",
                          0.5, 0.99), log=True, fill=0),
        lines("Books", "Series in each book's table", "short", [worst(f"pinstrike_book_entries{{{ON_CORE}}}", "core")]),
        lines("Series refused", "Messages of series that did not fit in the book", "mps",
              [rate("pinstrike_book_series_refused_messages_total", "core", of="sum", on=ON_CORE)],
              alerts=["PinstrikeBookFull"]),
        lines("Heap of hot threads", "Heap allocations of poll and actor threads after their "
              "start, in this time range", "short", [gained("pinstrike_hot_allocations_total", of="sum")],
              alerts=["PinstrikeHotAllocation"]),
        lines("Published records", "Written to the stream of each core, for readers on this host", "cps",
              [rate("pinstrike_published_stream_records_total", "core", on=ON_CORE)],
              empty="The config publishes no stream"),
        lines("Readers woken", "Readers on this host that waited for events", "cps",
              [rate("pinstrike_published_reader_wakeups_total", of="sum")], empty="The config publishes nothing"),
        lines("Published memory", "Size of the memory file that readers on this host map", "bytes",
              [worst("pinstrike_published_bytes{{S}}")], fill=0, empty="The config publishes nothing"),
        lines("Age of the published memory", "Since the start that created its file. Where it falls, the feed "
              "started anew, and readers attached to another file", "s",
              [worst("time() - pinstrike_published_start_timestamp_seconds{{S}}", of="min")], fill=0,
              empty="The config publishes nothing"),
    ], [CORE])

NIC = Dashboard(
    "pinstrike-nic", "Pinstrike: NIC and host", "Packets and losses of the devices, and this host", [
        squares("Links", "Whether each port's link is up", "short",
                [worst("pinstrike_port_link_up{{S}}", "port", of="min")], width=24, height=5,
                mappings=states(down=(0, RED), up=(1, GREEN)),
                alerts=["PinstrikeLinkDown"]),
        lines("Packets", "Received by each port", "pps", [rate("pinstrike_port_packets_total", "port", "thread")]),
        lines("Bits", "Received by each port, Ethernet header included", "bps",
              [worst(f"8 * rate(pinstrike_port_bytes_total{{{{S}}}}{RATE})", "port", "thread")]),
        lines("Missed by the device", "It had no free descriptor: the poller was too slow. Absent "
              "where the driver does not count", "pps",
              [rate("pinstrike_device_missed_packets_total", "port", of="sum")], empty="No driver counts them here",
              alerts=["PinstrikeDeviceMisses"]),
        lines("No buffer", "The pool of mbufs was empty. Absent where the driver does not count", "pps",
              [rate("pinstrike_device_no_buffer_packets_total", "port", of="sum")], empty="No driver counts them here",
              alerts=["PinstrikeNoBuffers"]),
        lines("Full bursts", "Receives that filled the burst: more packets were waiting", "ops",
              [rate("pinstrike_port_full_bursts_total", "port", "thread")]),
        lines("Dropped before any line", "By reason; and by the kernel's reverse path filter, with "
              "ports of kind uring", "pps",
              [rate("pinstrike_port_dropped_packets_total", "port", "reason", of="sum"),
               rate("pinstrike_reverse_path_dropped_packets_total", of="sum", name=" reverse path filter")],
              alerts=["PinstrikeForeignTraffic"]),
        lines("Heap", "Of the whole program", "bytes",
              [worst("pinstrike_allocator_allocated_bytes{{S}}", name=" in use"),
               worst("pinstrike_allocator_resident_bytes{{S}}", name=" in physical memory"),
               worst("pinstrike_allocator_mapped_bytes{{S}}", name=" mapped")], fill=0),
        lines("System calls refused", "Calls of a hot thread that are not on its list, in this time range", "short",
              [gained("pinstrike_thread_refused_calls_total", "thread", of="sum")], alerts=["PinstrikeCallRefused"]),
        lines("Being recovered", "Missing numbers that recovery has neither found nor given up. "
              "Only where the config names sources", "short",
              [worst("pinstrike_recovery_open_messages{{S}}", of="sum")],
              empty="The config names no source of recovery"),
        squares("Peers", "Whether each peer is connected. Only where the config names peers", "short",
                [worst("pinstrike_peer_client_connected{{S}}", "peer", of="min")],
                width=12, height=8, mappings=states(gone=(0, RED), connected=(1, GREEN)),
                empty="The config names no peer",
                alerts=["PinstrikePeerGone"]),
        squares("Recovery", "Whether the thread of recovery and peers runs. Only where the config "
                "names sources", "short",
                [worst("pinstrike_recovery_running{{S}}", of="min")],
                width=24, height=5, mappings=states(ended=(0, RED), running=(1, GREEN)),
                empty="The config names no source of recovery",
                alerts=["PinstrikeRecoveryEnded"]),
        lines("Recording", "Packets written to the disk, and packets that are not recorded because the "
              "recorder's memory was full", "pps",
              [rate("pinstrike_recorder_written_packets_total", of="sum", name=" written"),
               rate("pinstrike_recorder_not_recorded_packets_total", of="sum", name=" not recorded")], empty=NO_RECORD,
              alerts=["PinstrikeRecordingShort"]),
        squares("Recorder", "Whether the disk takes what is recorded", "short",
                [worst("pinstrike_recorder_failing{{S}}")], width=12, height=8,
                mappings=states(writes=(0, GREEN), fails=(1, RED)), empty=NO_RECORD,
                alerts=["PinstrikeRecordingFailed"]),
        lines("Age of the latest snapshot", "Time since the latest snapshot of the books began that is on disk. A "
              "replay from a moment begins with one", "s",
              [worst("time() - (pinstrike_recorder_snapshot_timestamp_seconds{{S}} > 0)")],
              empty="The config has no section record, or no snapshot was written", alerts=["PinstrikeSnapshotOld"]),
        lines("Packets not wanted on disk", "Packets that record.streams and record.lines leave out", "pps",
              [rate("pinstrike_recorder_filtered_packets_total", of="sum")], empty=NO_RECORD),
        lines("Segments not compressed", "Closed segments that could not be compressed", "short",
              [gained("pinstrike_recorder_compress_failures_total", of="sum")], empty=NO_RECORD,
              alerts=["PinstrikeCompressionFailed"]),
        squares("State from the recording", "Whether the books could take the recorded state at the latest start",
                "short", [worst("pinstrike_recorder_recovery_failed{{S}}")], width=12, height=8,
                mappings=states(taken=(0, GREEN), failed=(1, RED)), empty=NO_RECORD,
                alerts=["PinstrikeStateUnrecovered"]),
        lines("Missing before the start", "Messages between the end of the recording and the first ones since the "
              "latest start", "short", [worst("pinstrike_recorder_missed_before_start_messages{{S}}")],
              empty=NO_RECORD),
    ])



def of_users(expr, of="sum"):
    return query(f"{of} by (feed, user) ({expr})", "{{feed}} {{user}}")


GATEWAY = Dashboard(
    "pinstrike-gateway", "Pinstrike: gateway", "Clients on the network, and whether they get all records", [
        stat("Feed", "Whether every selected gateway can read its feed", "short",
             "min(pinstrike_gateway_feed_live{{S}})", thresholds=steps(RED, (1, GREEN)),
             mappings=states(lost=(0, RED), live=(1, GREEN)), empty="No gateway answers",
             alerts=["PinstrikeGatewayDown", "PinstrikeGatewayFeedLost"]),
        no_progress("gateway", "serving thread of a gateway", "PinstrikeGatewayStalled"),
        stat("Sessions", "Clients that are logged in", "short", "sum(pinstrike_gateway_sessions{{S}})",
             thresholds=steps(BLUE), empty="None"),
        stat("Series", "Series that the gateway knows", "short", "max(pinstrike_gateway_instruments{{S}})",
             thresholds=steps(BLUE)),
        stat("Missed", "Records of the feed that a gateway was too slow for, in this time range", "short",
             all_gained("pinstrike_gateway_missed_records_total"), thresholds=AT_ALL,
             alerts=["PinstrikeGatewayMissed"]),
        stat("Not in the access log", "Sessions that could not be written into it, in this time range", "short",
             all_gained("pinstrike_gateway_unlogged_sessions_total"), thresholds=AT_ALL,
             alerts=["PinstrikeGatewayUnlogged"]),
        lines("Sessions by user", "Clients that are logged in", "short", [of_users("pinstrike_gateway_sessions{{S}}")],
              empty="No gateway answers"),
        lines("Sent by user", "Records sent", "cps",
              [of_users(f"rate(pinstrike_gateway_user_sent_records_total{{{{S}}}}{RATE})")]),
        lines("Left out by user", "Records skipped, because the client read too slowly or used up its key's rate",
              "cps", [of_users(f"rate(pinstrike_gateway_user_skipped_records_total{{{{S}}}}{RATE})")],
              alerts=["PinstrikeGatewayClientSkips"]),
        lines("Behind", "How long the slowest client of a user has been behind", "s",
              [of_users("pinstrike_gateway_behind_seconds{{S}}", of="max")], marked=True,
              thresholds=steps(GREEN, (10, RED)), empty="No gateway answers", alerts=["PinstrikeGatewayClientBehind"]),
        lines("Waiting bytes by user", "In the queues of its clients", "bytes",
              [of_users("pinstrike_gateway_queue_bytes{{S}}")], empty="No gateway answers"),
        lines("Waiting records by user", "In the queues of its clients", "short",
              [of_users("pinstrike_gateway_waiting_records{{S}}")], empty="No gateway answers"),
        events_read("gateway"),
        lines("Connections", "Open connections, also before their login; connections that were closed at once, "
              "in this time range", "short",
              [worst("pinstrike_gateway_connections{{S}}", of="sum", name=" open"),
               gained("pinstrike_gateway_refused_connections_total", of="sum", name=" refused")], fill=0,
              alerts=["PinstrikeGatewayRefuses"]),
        lines("Ended sessions", "By reason", "cpm",
              [worst(f"60 * rate(pinstrike_gateway_ended_sessions_total{{{{S}}}}{RATE})", "reason", of="sum")], fill=0),
        without_a_place("gateway"),
        lines("Time to the write", "From the receipt of an event until its record is given to a client's socket. "
              + HIGHEST, "s", percentiles("pinstrike_gateway_write_seconds_bucket{{S}}", "feed", 0.5, 0.99),
              empty="No events are sent"),
        lines("Refused by user", "Logins above the limit of sessions, subscriptions and symbols, in this time range",
              "short", [of_users("increase(pinstrike_gateway_user_refusals_lines_total{{S}}[$__range])")]),
    ], metric="pinstrike_gateway_feed_live")


def of_topics(name):
    return query(f"sum by (topic) (rate(pinstrike_kafka_topic_{name}_total{{{{S}}}}{RATE}))", "{{topic}}")


KAFKA = Dashboard(
    "pinstrike-kafka", "Pinstrike: Kafka", "Records written to Kafka, and what became of them", [
        stat("Feed", "Whether every selected Kafka producer can read its feed", "short",
             "min(pinstrike_kafka_feed_live{{S}})", thresholds=steps(RED, (1, GREEN)),
             mappings=states(lost=(0, RED), live=(1, GREEN)), empty="No producer answers",
             alerts=["PinstrikeKafkaDown", "PinstrikeKafkaFeedLost"]),
        no_progress("kafka", "thread of a producer", "PinstrikeKafkaStalled"),
        stat("Brokers", "Whether a selected producer reaches no broker", "short",
             "max(pinstrike_kafka_brokers_down{{S}})", thresholds=steps(GREEN, (1, RED)),
             mappings=states(reached=(0, GREEN), down=(1, RED)), alerts=["PinstrikeKafkaBrokersDown"]),
        stat("Series", "Series that the producer knows", "short", "max(pinstrike_kafka_instruments{{S}})",
             thresholds=steps(BLUE)),
        stat("Missed", "Events of the feed that a producer was too slow for, in this time range", "short",
             all_gained("pinstrike_kafka_missed_records_total"), thresholds=AT_ALL, alerts=["PinstrikeKafkaMissed"]),
        stat("Waiting definitions", "Definitions that wait until the queue has room", "short",
             "sum(pinstrike_kafka_waiting_definitions{{S}})", thresholds=steps(BLUE)),
        lines("Acknowledged", "Records that the brokers have stored", "cps", [of_topics("acknowledged_records")]),
        lines("Messages", "Messages that the brokers have stored", "cps", [of_topics("messages")]),
        lines("Dropped", "Records that did not fit into the queue", "cps", [of_topics("dropped_records")],
              alerts=["PinstrikeKafkaDrops"]),
        lines("Failed and uncertain", "Records without an acknowledgement: not in the topic, or perhaps in it", "cps",
              [rate(f"pinstrike_kafka_topic_{name}_records_total", of="sum", name=f" {name}")
               for name in ("failed", "uncertain")], alerts=["PinstrikeKafkaUnacknowledged"]),
        lines("Queue", "Bytes of records that wait for their acknowledgement, and the limit", "bytes",
              [worst("pinstrike_kafka_queue_bytes{{S}}", name=" waiting"),
               worst("pinstrike_kafka_queue_max_bytes{{S}}", name=" limit")], empty="No producer answers"),
        lines("Time to the acknowledgement", "From the queue until the brokers acknowledge a message. " + HIGHEST, "s",
              percentiles("pinstrike_kafka_acknowledge_seconds_bucket{{S}}", "feed", 0.5, 0.99),
              empty="No records are sent"),
        events_read("kafka"),
        without_a_place("kafka"),
    ], metric="pinstrike_kafka_feed_live")

BRIDGE = Dashboard(
    "pinstrike-bridge", "Pinstrike: bridge", "Feeds that are carried to other hosts, and what was not carried", [
        stat("Published", "Whether every selected joining side has a whole state and publishes its feed", "short",
             "min(pinstrike_bridge_live{{S}})", thresholds=steps(RED, (1, GREEN)),
             mappings=states(no=(0, RED), yes=(1, GREEN)), empty="No joining side answers",
             alerts=["PinstrikeBridgeDown", "PinstrikeBridgeNotPublished"]),
        no_progress("bridge", "thread of a bridge", "PinstrikeBridgeStalled"),
        stat("Not carried", "Records that joining sides did not get as events, in this time range", "short",
             all_gained("pinstrike_bridge_join_missed_records_total"), thresholds=AT_ALL,
             alerts=["PinstrikeBridgeMissed"]),
        stat("Joined hosts", "Connections to serving sides", "short", "sum(pinstrike_bridge_joined_hosts{{S}})",
             thresholds=steps(BLUE), empty="None"),
        stat("Current hosts", "Of these, those that have a whole state and follow the events", "short",
             "sum(pinstrike_bridge_current_hosts{{S}})", thresholds=steps(BLUE), empty="None"),
        stat("Open lines", "Lines for which the bridge does not know yet which numbers were not carried", "short",
             "max(pinstrike_bridge_open_lines{{S}})", thresholds=steps(BLUE), empty="None"),
        lines("Records", "Sent by serving sides, published by joining sides", "cps",
              [rate("pinstrike_bridge_serve_sent_records_total", of="sum", name=" sent"),
               rate("pinstrike_bridge_join_published_records_total", of="sum", name=" published")], fill=0),
        lines("Untaken bytes", "Sent, and not taken yet by joining sides", "bytes",
              [worst("pinstrike_bridge_untaken_bytes{{S}}")], empty="No serving side answers"),
        lines("Ends of connections", "Broken, refused, and ended as agreed, in this time range", "short",
              [gained(f"pinstrike_bridge_{side}_{name}_connections_total", of="sum", name=f" {side} {name}")
               for side in ("serve", "join") for name in ("downs", "refused", "left")], fill=0),
        lines("States and gaps", "Whole states that began, and numbers in the gaps between, in this time range",
              "short",
              [gained("pinstrike_bridge_serve_states_total", of="sum", name=" states sent"),
               gained("pinstrike_bridge_join_states_total", of="sum", name=" states published"),
               gained("pinstrike_bridge_join_gap_numbers_messages_total", of="sum", name=" numbers in gaps")], fill=0),
    ], metric="pinstrike_bridge_stalled_seconds")

ALL = [OVERVIEW, LINES, LATENCY, CORES, NIC, GATEWAY, KAFKA, BRIDGE]


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for dashboard in ALL:
        (folder / f"{dashboard.uid}.json").write_text(
            json.dumps(dashboard.json(ALL), indent=2) + "\n")


if __name__ == "__main__":
    main()
