// path: hot
#pragma once

#include "config/counter.h"
#include "config/rows.h"

namespace pinstrike::actors::gateway {

// clang-format off
#define PINSTRIKE_SESSION_COUNTS(ROW) \
    ROW(records, records, "records for the client: of its subscriptions, and about the session") \
    ROW(sent, records, "of these, records given to the client's socket") \
    ROW(skipped, records, \
        "of these, records left out: the client read too slowly, or its key's rate was used up") \
    ROW(unsent, records, "of these, records that still waited when the session ended") \
    ROW(subscriptions, lines, "subscription lines that were accepted") \
    ROW(refusals, lines, \
        "refused: logins above the limit of sessions, subscription lines, and symbols") \
    ROW(replayed, records, "of the records for the client, those of the recording") \
    ROW(bytes, bytes, "bytes given to the client's socket")

#define PINSTRIKE_GATEWAY_ENDS(ROW) \
    ROW(client, sessions, "the client closed the connection") \
    ROW(login, sessions, "the login failed or took too long") \
    ROW(limit, sessions, "a limit of the key") \
    ROW(request, sessions, "a request that cannot be served") \
    ROW(replay, sessions, "the recording cannot be replayed as the client asked") \
    ROW(slow, sessions, "the client stayed behind by more than its queue holds") \
    ROW(key, sessions, "the key was removed or changed") \
    ROW(feed, sessions, "the feed's list of series changed") \
    ROW(shutdown, sessions, "the gateway ended")
// clang-format on

/// One session, or the sum over all.
PINSTRIKE_ROWS(SessionCount, PINSTRIKE_SESSION_COUNTS)

/// Why sessions ended.
PINSTRIKE_ROWS(SessionEnding, PINSTRIKE_GATEWAY_ENDS)

using SessionCounters = Counters<SessionCount, SessionCount_count>;
using SessionEndings = Counters<SessionEnding, SessionEnding_count>;

}  // namespace pinstrike::actors::gateway
