// path: cold
//
// The account: packets and messages received, delivered and dropped, by reason. It is the snapshot
// of an appliance whose threads have ended, checked, and written as JSON or as tables. The check
// compares the output of each hop with the input of the next, so an identity that does not hold is
// a bug of this program, and the message names the identity. (A ring counts `routed`, `pushed` and
// `refused` separately; the check also compares `pushed` with what the ring's core counted.)
#pragma once

#include "actors/telemetry/counter_snapshot.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace pinstrike::actors {

/// A sentence with figures for every identity that does not hold; empty if the account balances.
[[nodiscard]] std::vector<std::string> imbalances(const CounterSnapshot& counters);

/// One JSON object, ending with a newline; `balanced` says whether imbalances() found nothing.
[[nodiscard]] std::string account_json(const CounterSnapshot& counters);

/// The account for people, which leaves out some figures. One row for each port, ring and core. One
/// row for each line if there are few; else their sum, and rows of the first lines that lost
/// messages. Ends with a newline; at most 100 columns.
[[nodiscard]] std::string account_text(const CounterSnapshot& counters);

/// The counts of a table of counters with their names.
[[nodiscard]] std::vector<AccountRow> named_counts(std::span<const Row> rows,
                                                   std::span<const std::uint64_t> counts);

/// Rejected blocks of all lines, by reason.
[[nodiscard]] std::vector<AccountRow> rejects_of(const CounterSnapshot& counters);

/// The sums over a core's actors (ActorReport::account_rows), with a row for each that a kind of
/// actor names.
[[nodiscard]] std::vector<AccountRow> account_rows_of(const CoreSnapshot& core);

}  // namespace pinstrike::actors
