// path: hot
//
// The counters of an arbiter, by stream and by line. The account checks identities between them:
// every message received is accepted, duplicate or rejected, and the messages delivered and the
// messages lost are those that existed. So each counter counts where its event happens, and none is
// derived from another.
#pragma once

#include "config/counter.h"
#include "config/rows.h"

namespace pinstrike::feed {

// clang-format off
#define PINSTRIKE_STREAM_COUNTS(ROW) \
    ROW(packets, packets, "datagrams of the stream's group") \
    ROW(messages, messages, "data messages received, by the count in the block header") \
    ROW(accepted, messages, "messages that this stream delivered first, late ones included") \
    ROW(duplicate, messages, \
        "messages delivered before, or numbered below the first number after the start") \
    ROW(rejected, messages, \
        "messages that cannot be decoded or numbered, and those after them in the block")

#define PINSTRIKE_LINE_COUNTS(ROW) \
    ROW(highest, messages, "numbers known to have existed, from the first one expected") \
    ROW(delivered, messages, "messages delivered, late ones included") \
    ROW(lost, messages, "numbers declared lost and not found since") \
    ROW(repaired, messages, "messages received by retransmission that filled a gap") \
    ROW(unasked, messages, "retransmitted messages that filled no gap") \
    ROW(filtered, messages, "delivered messages that a filter kept from the cores") \
    ROW(controls, messages, "controls among the delivered messages") \
    ROW(unnumbered, messages, \
        "messages without numbers, each copy, delivered or filtered beside the numbered ones") \
    ROW(late, messages, "messages delivered after their number had been declared lost") \
    ROW(gaps, gaps, "times that numbers were declared lost") \
    ROW(gaps_unlisted, messages, \
        "lost numbers that do not fit, or no longer fit, in the list of gaps") \
    ROW(holds, blocks, "blocks held because messages before them were missing") \
    ROW(holds_cut_short, gaps, "gaps declared early because the held blocks filled their memory") \
    ROW(resets, resets, "starts of day and resets applied") \
    ROW(resets_inferred, resets, \
        "resets that neither stream delivered, inferred from the numbers after them") \
    ROW(resets_repeated, resets, "second copies of resets") \
    ROW(copies_restamped, blocks, \
        "duplicates with another block time than the first copy; one that is not later than all " \
        "that was delivered may not be counted") \
    ROW(resets_stale, resets, "resets older than the messages they would reset, not applied") \
    ROW(streams_realigned, resets, \
        "times that a stream lost its copy of a reset and continued without it") \
    ROW(retransmitted_controls, blocks, \
        "retransmitted blocks of messages without numbers, such as controls, not applied") \
    ROW(invalid_sequence, blocks, "data blocks with sequence 0")
// clang-format on

PINSTRIKE_ROWS(StreamCount, PINSTRIKE_STREAM_COUNTS)
PINSTRIKE_ROWS(LineCount, PINSTRIKE_LINE_COUNTS)

using StreamCounters = Counters<StreamCount, StreamCount_count>;
using LineCounters = Counters<LineCount, LineCount_count>;

}  // namespace pinstrike::feed
