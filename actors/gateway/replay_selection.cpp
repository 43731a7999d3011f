// path: cold
#include "actors/gateway/replay_selection.h"

#include <algorithm>

namespace pinstrike::actors::gateway {

using feed::dbn::Schema;

void ReplaySelection::add(const Request& request) {
    OfSchema& wanted = by_schema_[static_cast<std::size_t>(request.schema)];
    wanted.start_ns = std::min(wanted.start_ns.value_or(request.start_ns), request.start_ns);
    wanted.known.clear();
    if (request.list.all) {
        const auto roots = subscriptions_.roots_of_all();
        wanted.series.everything = wanted.series.everything || !roots;
        if (roots) {
            wanted.series.roots.insert(roots->begin(), roots->end());
        }
        return;
    }
    for (const std::string& symbol : request.list.symbols) {
        if (subscriptions_.objection_to(symbol, request.list.type).empty()) {
            wanted.series.add(request.list.type, symbol);
        }
    }
}

std::vector<ReplayWanted> ReplaySelection::wanted() const {
    std::vector<ReplayWanted> all;
    for (std::size_t i = 0; i < by_schema_.size(); ++i) {
        const OfSchema& each = by_schema_[i];
        if (!each.start_ns) {
            continue;
        }
        ReplayWanted wanted{static_cast<Schema>(i),
                            *each.start_ns,
                            each.series.everything,
                            {each.series.roots.begin(), each.series.roots.end()},
                            {each.series.symbols.begin(), each.series.symbols.end()}};
        for (const InstrumentId number : each.series.numbers) {
            if (market_.instruments().find(number) != nullptr) {
                wanted.symbols.push_back(market_.instruments().symbol_of(number));
            }
        }
        all.push_back(std::move(wanted));
    }
    return all;
}

bool ReplaySelection::has(Schema schema, InstrumentId id) {
    OfSchema& wanted = by_schema_[static_cast<std::size_t>(schema)];
    if (!wanted.start_ns) {
        return false;
    }
    if (id >= wanted.known.size()) {
        wanted.known.resize(
            std::max<std::size_t>(market_.instruments().end(), id + std::size_t{1}));
    }
    std::uint8_t& known = wanted.known[id];
    if (known == 0) {
        const bool is_named =
            wanted.series.everything || wanted.series.names(market_.instruments(), id);
        known = is_named && subscriptions_.follows(schema, id) ? 1 : 2;
    }
    return known == 1;
}

void ReplaySelection::look_again() {
    for (OfSchema& wanted : by_schema_) {
        wanted.known.clear();
    }
}

}  // namespace pinstrike::actors::gateway
