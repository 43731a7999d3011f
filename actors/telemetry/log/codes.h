// path: cold
//
// All log codes, one row each: the level, how many entries of one subject may come at once before
// they are limited, and the meaning. A published code is never changed, only retired, because
// people search for it and alert on it.
#pragma once

#include "config/log_level.h"
#include "config/rows.h"

#include <string_view>

namespace pinstrike::actors {

// clang-format off
#define PINSTRIKE_LOG_CODES(ROW) \
    ROW(starting, info, 1, "the program starts: its version, its config and its threads") \
    ROW(running, info, 1, "all threads have started and the pollers poll") \
    ROW(stopping, info, 1, \
        "the program ends: a signal, the time given by --for, or the end of the input") \
    ROW(remark, warning, 100, \
        "does not stop the program, but should be known: where a thread was placed, a capture " \
        "cut short") \
    ROW(metrics_open, info, 1, "Prometheus can scrape at the address given") \
    ROW(gateway_open, info, 1, "the gateway serves clients at the address given") \
    ROW(gateway_missed, error, 1, \
        "the gateway was too slow for some records of the feed: its clients were notified and " \
        "get present values; the feed itself lost nothing") \
    ROW(session_begun, info, 100, "a client logged in at the gateway: its user and address") \
    ROW(login_refused, warning, 10, \
        "a client could not log in at the gateway: its address, and whether key or limit was " \
        "wrong") \
    ROW(session_ended, info, 100, "a client's session ended: why, and what it got") \
    ROW(access_unlogged, error, 10'000, \
        "the gateway's access log could not be opened again, or lacks a line, because the file " \
        "could not be written: the line, or the reason") \
    ROW(feed_attached, info, 1, \
        "a gateway or a Kafka producer reads the feed's published memory") \
    ROW(feed_lost, error, 1, \
        "the feed that a gateway or a Kafka producer reads has ended or cannot be read; it " \
        "attaches again when the feed is back. Clients of a gateway stay connected and are " \
        "notified") \
    ROW(kafka_open, info, 1, "the Kafka producer sends to the brokers given") \
    ROW(kafka_missed, error, 1, \
        "the Kafka producer was too slow for some events of the feed: the header `missed` of " \
        "later messages states them; the feed itself lost nothing") \
    ROW(kafka_dropped, error, 1, \
        "records were dropped because the queue to the brokers was full: the header `lost` of " \
        "later messages states them") \
    ROW(kafka_failed, error, 1, \
        "records are certainly not in their topic: the brokers refused them or could not be " \
        "reached") \
    ROW(kafka_uncertain, error, 1, \
        "records may or may not be in their topic: they were sent, and no answer came") \
    ROW(kafka_brokers_down, error, 1, "no broker can be reached; librdkafka tries again") \
    ROW(kafka_back, info, 1, "messages are acknowledged again after kafka_brokers_down") \
    ROW(kafka_error, warning, 1, "an error of librdkafka, such as a refused connection") \
    ROW(bridge_open, info, 1, "a bridge serves its feed to other hosts at the address given") \
    ROW(bridge_up, info, 100, "a bridge has a connection: the address of the other side") \
    ROW(bridge_down, error, 10, \
        "a bridge lost a connection, or cannot open one, and why; the joining side connects " \
        "again, and gap events then state what was not carried") \
    ROW(bridge_left, info, 100, "a connection of a bridge ended as agreed, and why") \
    ROW(bridge_refused, error, 10, \
        "a connection of a bridge was refused: the certificate, the release, or a limit") \
    ROW(bridge_state, info, 10, \
        "the joining side of a bridge has received a whole state, and publishes the feed") \
    ROW(bridge_missed, error, 1, \
        "events were not carried by a bridge; gap events state their numbers, and the state is " \
        "whole") \
    ROW(bridge_feed, warning, 10, \
        "a bridge has no feed to carry (the entry says why), or has one again") \
    ROW(published, info, 1, \
        "the feed publishes its state in the memory file given; other programs can attach") \
    ROW(admin_open, info, 1, "root and the program's group can connect to the admin socket given") \
    ROW(admin_asked, info, 100, "somebody requested a change at the admin socket: who, and which") \
    ROW(admin_untaken, warning, 1, \
        "the admin socket could not accept a connection, usually because descriptors ran out; it " \
        "tries again every second") \
    ROW(reloaded, info, 100, "the config file was read again and applied: what changed") \
    ROW(reload_refused, error, 100, \
        "the config file was read again and refused because it is wrong or because a change " \
        "needs a restart. The previous config stays in force as a whole") \
    ROW(link_up, info, 1, "a port's link is up") \
    ROW(link_down, warning, 1, "a port's link is down: no packet is received from it") \
    ROW(link_flapped, warning, 1, \
        "a port's link changed and changed back between two checks: packets sent in between are " \
        "lost") \
    ROW(interface_replaced, warning, 100, \
        "a port's interface was deleted and created again: the groups are joined on the new one; " \
        "packets sent in between are lost") \
    ROW(port_lost, error, 1, \
        "a port's interface was deleted and created again, and the port's driver cannot switch " \
        "to the new one: the program ends with status 1 so that systemd restarts it") \
    ROW(stream_heard, debug, 1, "the first packet of a stream of a line") \
    ROW(stream_silent, warning, 1, \
        "no packet for silence.stream_silent_after on a stream that had packets before, though " \
        "its session is on: a healthy stream sends line integrity every ten seconds") \
    ROW(stream_down, warning, 1, "no packet for silence.stream_down_after") \
    ROW(stream_back, info, 1, "a silent stream has packets again") \
    ROW(line_down, error, 1, \
        "neither stream of a line has packets: the state of its series is getting old") \
    ROW(line_back, info, 1, "a line that was down has packets again") \
    ROW(streams_unheard, warning, 1, \
        "some streams have had no packet since the start, though their session is on: check that " \
        "the groups are joined and that the switch forwards them") \
    ROW(gap_declared, error, 1, \
        "both streams of a line lost the same messages: the gap was reported to every core") \
    ROW(gap_mended, info, 1, \
        "messages were received after they had been declared lost, or by retransmission") \
    ROW(reset_inferred, warning, 1, \
        "the numbers of a line's blocks show a reset that neither stream delivered: earlier " \
        "quotes are cleared. If it is rare, both streams lost the reset; if it repeats, a " \
        "sender on the line's groups is wrong") \
    ROW(recovery_short, warning, 1, \
        "missing messages were given up: the sources did not have them, or could not be asked in " \
        "time. gap_declared reports what stays lost") \
    ROW(recovery_ended, error, 1, \
        "the thread of recovery and peers ended because of an error: until a restart nothing is " \
        "requested, kept or sent to peers. The streams are read as before") \
    ROW(history_short, warning, 1, \
        "blocks are not kept for peers: the thread that keeps them is slower than the poller. A " \
        "peer that requests them is refused") \
    ROW(recording_failed, error, 1, \
        "the recorder cannot write: the disk is full, gone or refuses; it tries again each " \
        "second. The feed is read as before") \
    ROW(recording_resumed, info, 1, \
        "the recorder writes again: how many packets were not recorded meanwhile") \
    ROW(recording_short, error, 1, \
        "packets were not recorded although the disk does not fail: it is too slow, or the " \
        "recorder's thread got too little processor time") \
    ROW(snapshot_failed, warning, 1, \
        "a snapshot of the books could not be written: a replay from a moment begins with an " \
        "earlier one. The next is tried after record.snapshot_interval") \
    ROW(compression_failed, warning, 1, \
        "a closed segment of the recording could not be compressed and stays as it is, which " \
        "takes more of the disk. It is tried again after all others, at most once a minute") \
    ROW(recording_repaired, warning, 100, \
        "a segment that an earlier start left unfinished, or whose index was lost or wrong, was " \
        "checked: what of it is whole, and what is missing") \
    ROW(segment_not_removed, warning, 1, \
        "a segment beyond the limits of the config could not be removed: younger ones are " \
        "removed instead. It is tried again each minute") \
    ROW(core_slow, error, 1, \
        "a core's ring was full and refused messages, which were reported to the core as a gap: " \
        "its actors take too long, or the ring is too small for the bursts") \
    ROW(thread_stalled, error, 1, \
        "a poll or actor thread made no loop step between two checks: an actor's call does not " \
        "return, or the thread gets no processor time. Meanwhile systemd's watchdog is not fed") \
    ROW(poller_behind, warning, 1, \
        "for a whole second a poller always found packets and received them in full bursts: it " \
        "is at its limit, and the NIC will miss packets next") \
    ROW(device_missed, warning, 1, \
        "a NIC or the kernel had no free buffer for packets: the poller that reads them is too " \
        "slow. gap_declared reports whether messages were lost") \
    ROW(device_errors, warning, 1, \
        "a NIC received damaged packets: check cable, optic and settings") \
    ROW(packets_dropped, warning, 1, \
        "packets that reached no line, by reason: damaged, or not of this feed") \
    ROW(packets_ignored, debug, 1, \
        "packets of the network itself that belong to no line: ARP, IGMP, frames of switches") \
    ROW(reverse_path_dropped, warning, 1, \
        "the kernel's reverse path filter dropped packets: their senders are not routed over the " \
        "interface. If they belong to the feed, set rp_filter of the interface to 0 or 2") \
    ROW(blocks_rejected, warning, 1, \
        "blocks refused as a whole or from some message on, or accepted with a remark; by reason") \
    ROW(hot_allocation, warning, 1, \
        "a poll or actor thread allocated heap memory after its start, which costs it time") \
    ROW(clock_stepped, warning, 1, \
        "the system clock was set: latencies measured across the step are meaningless") \
    ROW(confined, info, 1, \
        "rights that the program needed only for its start are dropped: which rights are kept, " \
        "and whether system calls of hot threads are filtered") \
    ROW(call_refused, error, 1, \
        "a poll or actor thread made a system call that is not on its list; the call was " \
        "blocked. Either somebody has intruded into the program, or the list lacks a call that a " \
        "driver or an actor needs") \
    ROW(calls_unfiltered, error, 1, \
        "the kernel refused the system call filter of a poll or actor thread: the thread may " \
        "make any call") \
    ROW(peer_connected, info, 1, \
        "a connection with a peer on which both sides proved that they know the secret") \
    ROW(peer_lost, warning, 1, \
        "a peer's connection ended, or cannot be established: missing messages cannot be " \
        "requested from it") \
    ROW(peer_refused, error, 1, \
        "a peer or this instance refused the other: secrets, feeds or versions differ, or one " \
        "violates the protocol; it stays so until somebody fixes it") \
    ROW(peer_turned_away, warning, 1, \
        "a stranger at the port for peers: an address that is not configured, or no proof of the " \
        "secret") \
    ROW(peer_state_taken, info, 1, \
        "the state of every series was received from a peer: the books are complete from here on") \
    ROW(peer_state_missing, warning, 1, \
        "no peer sent the state of every series in time: unknown series stay unknown until their " \
        "next message") \
    ROW(state_recovered, info, 1, \
        "the books took the state that the feed recorded before its start: of how many series, " \
        "how old it was, how long it took, and how many messages are missing between the " \
        "recording and the first messages since the start") \
    ROW(state_unrecovered, warning, 1, \
        "the books did not take the state that the feed recorded before its start, or only a " \
        "part of it: unknown series stay unknown until their next message") \
    ROW(dpdk_error, error, 50, "an error of DPDK or a library below it") \
    ROW(dpdk_warning, warning, 50, "a warning of DPDK or a library below it") \
    ROW(dpdk_info, info, 100, "a message of DPDK or a library below it") \
    ROW(dpdk_debug, debug, 100, "a debug message of DPDK") \
    ROW(lines_left_out, warning, 1, \
        "other threads logged more between two checks than the log could take")

// clang-format on

/// One row of the table.
struct LogRow {
    std::string_view code;
    LogLevel level;
    unsigned burst;  ///< entries of one subject that pass before the limit applies
    std::string_view sentence;
};

#define PINSTRIKE_LOG_ROW(code, level, burst, sentence) \
    LogRow{#code, LogLevel::level, burst, sentence},

PINSTRIKE_TABLE(LogCode, LogRow, PINSTRIKE_LOG_CODES, PINSTRIKE_LOG_ROW)

}  // namespace pinstrike::actors
