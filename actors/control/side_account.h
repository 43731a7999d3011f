// path: cold
//
// The account that a process beside a feed (a gateway, a bridge, a Kafka producer) gives at its
// end.
#pragma once

#include "actors/control/side_services.h"
#include "actors/market/market_counts.h"
#include "config/counter.h"
#include "config/histogram.h"
#include "config/problem.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>

namespace pinstrike::actors {

/// The counts by the names of their rows.
template <class Enum, std::size_t count>
[[nodiscard]] nlohmann::ordered_json counts_json(const Counters<Enum, count>& counters) {
    nlohmann::ordered_json values;
    for (std::size_t i = 0; i < count; ++i) {
        const auto which = static_cast<Enum>(i);
        values[std::string{row_of(which).name}] = counters.read(which);
    }
    return values;
}

/// Their number, under the name `counted`, and percentiles.
[[nodiscard]] nlohmann::ordered_json times_json(const std::string& counted, const Histogram& times);

/// Whether each event that was read counts as served, or as left out for one reason.
[[nodiscard]] bool events_balance(const MarketCounters& events);

/// "9 events read = 7 served + 2 filtered + 0 of lines + 0 without id"
[[nodiscard]] std::string events_text(const MarketCounters& events);

/// Writes the account to the file of the options, if they name one, and prints `text` and whether
/// the account balances.
[[nodiscard]] Exit report_account(const SideOptions& options, nlohmann::ordered_json account,
                                  bool balances, const std::string& text);

}  // namespace pinstrike::actors
