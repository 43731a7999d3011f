// path: cold
#include "actors/gateway/replay_selection.h"

#include <algorithm>

namespace pinstrike::actors::gateway {

using feed::dbn::Schema;
using feed::dbn::SymbolType;

void ReplaySelection::add(const Request& request) {
    OfSchema& wanted = by_schema_[static_cast<std::size_t>(request.schema)];
    wanted.start_ns = std::min(wanted.start_ns.value_or(request.start_ns), request.start_ns);
    wanted.known.clear();
    if (request.list.all) {
        const auto roots = subscriptions_.roots_of_all();
        wanted.everything = wanted.everything || !roots;
        if (roots) {
            wanted.roots.insert(roots->begin(), roots->end());
        }
        return;
    }
    for (const std::string& symbol : request.list.symbols) {
        if (!subscriptions_.objection_to(symbol, request.list.type).empty()) {
            continue;
        }
        if (request.list.type == SymbolType::parent) {
            wanted.roots.insert(root_of_parent(symbol));
        } else if (request.list.type == SymbolType::instrument_id) {
            wanted.numbers.insert(number_of_symbol(symbol).value_or(0));
        } else {
            wanted.symbols.insert(symbol);
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
                            each.everything,
                            {each.roots.begin(), each.roots.end()},
                            {each.symbols.begin(), each.symbols.end()}};
        for (const InstrumentId number : each.numbers) {
            if (market_.instruments().find(number) != nullptr) {
                wanted.symbols.push_back(market_.instruments().symbol_of(number));
            }
        }
        all.push_back(std::move(wanted));
    }
    return all;
}

bool ReplaySelection::names(const OfSchema& wanted, InstrumentId id) const {
    const Instruments& instruments = market_.instruments();
    return wanted.everything || wanted.numbers.contains(id) ||
           (!wanted.roots.empty() && wanted.roots.contains(name_of(instruments.key_of(id)).root)) ||
           (!wanted.symbols.empty() && wanted.symbols.contains(instruments.symbol_of(id)));
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
        known = names(wanted, id) && subscriptions_.follows(schema, id) ? 1 : 2;
    }
    return known == 1;
}

void ReplaySelection::look_again() {
    for (OfSchema& wanted : by_schema_) {
        wanted.known.clear();
    }
}

}  // namespace pinstrike::actors::gateway
