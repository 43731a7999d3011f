// path: cold
#include "actors/control/side_account.h"

#include "config/output_file.h"
#include "config/units.h"

#include <fmt/core.h>

namespace pinstrike::actors {

nlohmann::ordered_json times_json(const std::string& counted, const Histogram& times) {
    const Histogram::Snapshot taken = times.snapshot();
    return {{counted, taken.count},
            {"p50_ns", taken.quantile_ns(0.5)},
            {"p99_ns", taken.quantile_ns(0.99)},
            {"p999_ns", taken.quantile_ns(0.999)}};
}

bool events_balance(const MarketCounters& events) {
    return events.read(MarketCount::read) ==
           events.read(MarketCount::served) + events.read(MarketCount::filtered) +
               events.read(MarketCount::of_lines) + events.read(MarketCount::without_id);
}

std::string events_text(const MarketCounters& events) {
    return fmt::format(
        "{} events read = {} served + {} filtered + {} of lines + {} without id",
        grouped(events.read(MarketCount::read)), grouped(events.read(MarketCount::served)),
        grouped(events.read(MarketCount::filtered)), grouped(events.read(MarketCount::of_lines)),
        grouped(events.read(MarketCount::without_id)));
}

Exit report_account(const SideOptions& options, nlohmann::ordered_json account, bool balances,
                    const std::string& text) {
    account["balances"] = balances;
    if (!options.account_file.empty() &&
        !write_text(options.account_file, account.dump(1) + '\n')) {
        return Exit::failed;
    }
    fmt::print("{}the account {}\n", text, balances ? "balances" : "does not balance");
    return balances ? Exit::ok : Exit::failed;
}

}  // namespace pinstrike::actors
