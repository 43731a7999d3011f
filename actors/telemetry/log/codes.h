// path: cold
//
// All log codes, one row each: the level, how many entries of one subject may come at once before
// they are limited, and the meaning. A published code is never changed, only retired, because
// people search for it and alert on it.
#pragma once

#include "config/log_level.h"

#include <array>
#include <cstddef>
#include <string_view>

namespace pinstrike::actors {

// clang-format off
#define PINSTRIKE_LOG_CODES(ROW) \
    ROW(starting, info, 1, "the program begins: its version, its config, what it will run") \
    ROW(running, info, 1, "all threads have started and the pollers poll") \
    ROW(stopping, info, 1, "the end begins: a signal, the time given by --for, or no more input") \
    ROW(remark, warning, 100, \
        "stops nothing, but should be known: where a thread was placed, a capture cut short") \
    ROW(metrics_open, info, 1, "Prometheus can scrape at the address told") \
    ROW(admin_open, info, 1, "root and the program's group can ask at the admin socket told") \
    ROW(admin_asked, info, 100, \
        "somebody asked at the admin socket for what changes something: who, and what") \
    ROW(reloaded, info, 100, "the config file was read anew and taken: what changed") \
    ROW(reload_refused, error, 100, \
        "the config file was read anew and refused, since it is wrong or changes what needs a " \
        "restart: why. What ran before goes on, whole") \
    ROW(link_up, info, 1, "a port's link is up") \
    ROW(link_down, warning, 1, "a port's link is down: nothing comes from it") \
    ROW(link_flapped, warning, 1, \
        "a port's link changed and changed back between two looks: what came meanwhile is lost") \
    ROW(interface_replaced, warning, 100, \
        "a port's interface was deleted and made again: the groups are joined at the new one; " \
        "what came meanwhile is lost") \
    ROW(port_lost, error, 1, \
        "a port's interface was deleted and made again, and the port's driver cannot go over to " \
        "the new one: the program ends with 1, so that systemd starts it anew") \
    ROW(stream_heard, debug, 1, "the first packet of a stream of a line") \
    ROW(stream_silent, warning, 1, \
        "nothing for the time of silence.stream_silent_after on a stream that was heard, though " \
        "its session is on: a healthy one sends line integrity every ten seconds") \
    ROW(stream_down, warning, 1, "nothing for the time of silence.stream_down_after") \
    ROW(stream_back, info, 1, "a stream that was silent is heard again") \
    ROW(line_down, error, 1, \
        "neither stream of a line is heard: what is known of its series grows old") \
    ROW(line_back, info, 1, "a line that was down is heard again") \
    ROW(streams_unheard, warning, 1, \
        "some streams have brought no packet since the start, though their session is on: see " \
        "that the groups are joined and the switch forwards them") \
    ROW(gap_declared, error, 1, \
        "both streams of a line lost the same messages: every core was told of the gap") \
    ROW(gap_mended, info, 1, \
        "messages came after they had been declared lost, or by retransmission") \
    ROW(reset_inferred, warning, 1, \
        "the numbers of a line's blocks show a reset that neither stream delivered: earlier " \
        "quotes are cleared. If it is rare, both streams lost the reset; if it repeats, a " \
        "sender on the line's groups is wrong") \
    ROW(recovery_short, warning, 1, \
        "missing messages were given up: the sources did not have them, or could not be asked in " \
        "time. What of it stays lost, gap_declared says") \
    ROW(recovery_ended, error, 1, \
        "the thread of recovery and peers ended by itself, over an error that it cannot go on " \
        "after: until a restart nothing is asked for, kept or given to peers. The streams are " \
        "read as before") \
    ROW(history_short, warning, 1, \
        "blocks are not kept for peers: the thread that keeps them is behind the poller. A peer " \
        "that asks for them is refused") \
    ROW(core_slow, error, 1, \
        "a core's ring was full and refused messages, which the core was told of as a gap: its " \
        "actors take too long, or the ring is too small for the bursts") \
    ROW(thread_stalled, error, 1, \
        "a poll or actor thread took no turn between two looks: an actor's call does not come " \
        "back, or the machine gives the thread no processor. Systemd's watchdog is not fed while " \
        "it lasts") \
    ROW(poller_behind, warning, 1, \
        "for a whole second a poller found no moment without packets and took them in full " \
        "bursts: it is at its limit, and the NIC will miss packets next") \
    ROW(device_missed, warning, 1, \
        "a NIC, or the kernel, had no room for packets: the poller that reads them is too slow. " \
        "Whether messages were lost, gap_declared says") \
    ROW(device_errors, warning, 1, "a NIC received damaged packets: a cable, an optic, a setting") \
    ROW(packets_dropped, warning, 1, \
        "packets that reached no line, by reason: damaged, or not of this feed") \
    ROW(packets_ignored, debug, 1, \
        "packets of the network itself that no line wants: ARP, IGMP, switches' frames") \
    ROW(reverse_path_dropped, warning, 1, \
        "the kernel's reverse path filter dropped packets: their senders are not routed over the " \
        "interface. If they are the feed's, set rp_filter of the interface to 0 or 2") \
    ROW(blocks_rejected, warning, 1, \
        "blocks refused, in whole or from some message on, or only remarked upon; by reason") \
    ROW(hot_allocation, warning, 1, \
        "a poll or actor thread asked for heap memory after its start, which costs it time") \
    ROW(clock_stepped, warning, 1, \
        "the machine's clock was set: latencies measured across the step mean nothing") \
    ROW(confined, info, 1, \
        "what the program was started with and no longer needs is given up: which rights are " \
        "kept, and whether system calls of hot threads are filtered") \
    ROW(call_refused, error, 1, \
        "a poll or actor thread made a system call that is not on its list; it was not made. " \
        "Either somebody has got into the program, or the list lacks a call that a driver or an " \
        "actor needs") \
    ROW(calls_unfiltered, error, 1, \
        "the kernel refused the filter of a poll or actor thread: it may call what it likes") \
    ROW(peer_connected, info, 1, \
        "a connection with a peer on which both sides proved to know the secret") \
    ROW(peer_lost, warning, 1, \
        "a peer's connection ended, or does not come about: what is missing is not had from it") \
    ROW(peer_refused, error, 1, \
        "a peer or this instance refused the other: secrets, feeds or versions differ, or one " \
        "does not keep the rules; it stays so until somebody mends it") \
    ROW(peer_turned_away, warning, 1, \
        "a stranger at the port for peers: an address that is not configured, or no proof of the " \
        "secret") \
    ROW(peer_state_taken, info, 1, \
        "the state of every series was taken from a peer: the books are whole from here on") \
    ROW(peer_state_missing, warning, 1, \
        "no peer gave its state of every series in time: what is unknown stays so until the feed " \
        "states it") \
    ROW(dpdk_error, error, 50, "an error that DPDK or a library below it tells") \
    ROW(dpdk_warning, warning, 50, "a warning that DPDK or a library below it tells") \
    ROW(dpdk_info, info, 100, "what DPDK or a library below it tells") \
    ROW(dpdk_debug, debug, 100, "what DPDK tells for debugging") \
    ROW(lines_left_out, warning, 1, \
        "other threads had more to say than the log could take between two looks")

// clang-format on

/// One row of the table.
struct LogRow {
    std::string_view code;
    LogLevel level;
    unsigned burst;  ///< entries of one subject that pass before the limit applies
    std::string_view sentence;
};

#define PINSTRIKE_LOG_ENUM(code, level, burst, sentence) code,
#define PINSTRIKE_LOG_ROW(code, level, burst, sentence) \
    LogRow{#code, LogLevel::level, burst, sentence},
#define PINSTRIKE_LOG_ONE(code, level, burst, sentence) +1

enum class LogCode : unsigned char { PINSTRIKE_LOG_CODES(PINSTRIKE_LOG_ENUM) };

inline constexpr std::size_t LogCode_count = 0 PINSTRIKE_LOG_CODES(PINSTRIKE_LOG_ONE);

inline constexpr std::array<LogRow, LogCode_count> LogCode_rows{
    {PINSTRIKE_LOG_CODES(PINSTRIKE_LOG_ROW)}};

constexpr const LogRow& row_of(LogCode code) {
    return LogCode_rows[static_cast<std::size_t>(code)];
}

}  // namespace pinstrike::actors
