// path: hot
#pragma once

#include "config/counter.h"
#include "config/rows.h"

namespace pinstrike::actors::bridge {

// clang-format off
#define PINSTRIKE_BRIDGE_SERVES(ROW) \
    ROW(read, records, "records read from the feed's streams") \
    ROW(sent, records, "of these, records sent as events") \
    ROW(filtered, records, "of these, records left out by a joining host's filter") \
    ROW(missed, records, \
        "records that the feed overwrote before a slow connection took them; a new state follows") \
    ROW(states, states, "states of the whole feed that were begun") \
    ROW(series, series, "series sent as state") \
    ROW(ids, series, "ids of series sent on request") \
    ROW(connections, connections, "connections of joining hosts that were accepted") \
    ROW(refused, connections, "of these, connections refused: the certificate or the first frame") \
    ROW(left, connections, "of these, connections that ended as agreed") \
    ROW(downs, connections, "of these, connections that broke, or whose other side fell silent") \
    ROW(bytes, bytes, "bytes sent before encryption")

#define PINSTRIKE_BRIDGE_JOINS(ROW) \
    ROW(received, records, "records received as events") \
    ROW(published, records, "of these, records published here") \
    ROW(applied, records, "of these, records applied to a state before it was published") \
    ROW(included, records, "of these, records that the state already had") \
    ROW(left_out, records, "records that the filter left out on the serving host") \
    ROW(missed, records, \
        "records neither published here nor left out by the filter: written while there was no " \
        "connection, or while a state was sent") \
    ROW(passed, records, \
        "records that the serving feed wrote, in its present start, since this host first had " \
        "its state: published + left_out + missed") \
    ROW(gaps, events, "gap events that state which numbers were not carried") \
    ROW(gap_numbers, messages, "numbers in these gaps") \
    ROW(states, states, "states that were received as a whole and published") \
    ROW(series, series, "series received as state") \
    ROW(series_refused, series, "of these, series that had no place in the table here") \
    ROW(ids, series, "ids of series received") \
    ROW(connections, connections, "connections that were opened") \
    ROW(refused, connections, "of these, connections that the serving host refused") \
    ROW(left, connections, "of these, connections that ended as agreed") \
    ROW(downs, connections, "of these, connections that broke, or whose other side fell silent") \
    ROW(malformed, frames, "frames with content that no serving host sends; the connection ends") \
    ROW(bytes, bytes, "bytes received after decryption")
// clang-format on

/// What the serving side did.
PINSTRIKE_ROWS(ServeCount, PINSTRIKE_BRIDGE_SERVES)

/// What the joining side did.
PINSTRIKE_ROWS(JoinCount, PINSTRIKE_BRIDGE_JOINS)

using ServeCounters = Counters<ServeCount, ServeCount_count>;
using JoinCounters = Counters<JoinCount, JoinCount_count>;

}  // namespace pinstrike::actors::bridge
