// path: cold
#include "actors/gateway/subscriptions.h"

#include "config/yaml.h"
#include "feed/dbn/osi_symbol.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>

namespace pinstrike::actors::gateway {
namespace {

using feed::dbn::Schema;
using feed::dbn::SymbolType;

constexpr std::string_view parent_ending = ".OPT";

std::size_t index(Schema schema) {
    return static_cast<std::size_t>(schema);
}

}  // namespace

std::string root_of_parent(std::string_view symbol) {
    const bool is_parent = symbol.ends_with(parent_ending) &&
                           symbol.size() <= parent_ending.size() + 5 &&
                           symbol.size() > parent_ending.size();
    return std::string{is_parent ? symbol.substr(0, symbol.size() - parent_ending.size())
                                 : std::string_view{}};
}

std::string Subscriptions::objection_to(const std::string& symbol, SymbolType type) {
    if (symbol.size() >= feed::dbn::symbol_bytes) {
        return fmt::format("Failed to resolve symbol {}: expected at most {} characters",
                           shown(symbol), feed::dbn::symbol_bytes - 1);
    }
    const auto failed = [&](std::string_view expected) {
        return fmt::format("Failed to resolve symbol {}: expected {}", shown(symbol), expected);
    };
    std::string root;
    if (type == SymbolType::parent) {
        root = root_of_parent(symbol);
        if (root.empty()) {
            return failed("a root and .OPT, such as AAPL.OPT");
        }
    } else if (type == SymbolType::raw_symbol) {
        const auto name = feed::dbn::parse_osi_symbol(symbol);
        if (!name) {
            return failed("an OSI symbol such as \"AAPL  250221C00250000\"");
        }
        root = name->root;
    } else {
        const auto id = number_of(symbol);
        if (!id || market_.instruments().find(*id) == nullptr) {
            return failed("the instrument id of a series of this day");
        }
        root = name_of(market_.instruments().key_of(*id)).root;
    }
    if (!served_.empty() && std::find(served_.begin(), served_.end(), root) == served_.end()) {
        return fmt::format("Failed to resolve symbol {}: the gateway does not serve {}",
                           shown(symbol), root);
    }
    return key_.allows(root) ? ""
                             : fmt::format(
                                   "Failed to resolve symbol {}: the key's limit "
                                   "underlyings does not have {}",
                                   shown(symbol), root);
}

/// The series of OSI symbols: of both sessions, if both are known. Each root is searched once.
std::vector<InstrumentId> Subscriptions::ids_of(const std::set<std::string>& symbols) {
    using Contract = std::tuple<std::uint32_t, char, std::int64_t>;
    std::map<std::string, std::set<Contract>> wanted;
    for (const std::string& symbol : symbols) {
        if (const auto name = feed::dbn::parse_osi_symbol(symbol)) {
            wanted[name->root].emplace(name->expiration, name->right, name->strike_e8);
        }
    }
    std::vector<InstrumentId> ids;
    Instruments& instruments = market_.instruments();
    for (const auto& [root, contracts] : wanted) {
        for (const InstrumentId id : instruments.of_root(root)) {
            const pinstrike_key& key = instruments.key_of(id);
            if (contracts.contains({key.expiration, key.right, key.strike_e8})) {
                ids.push_back(id);
            }
        }
    }
    return ids;
}

/// All known series of these names, rising.
std::vector<InstrumentId> Subscriptions::ids_of(const NamedSeries& named,
                                                const std::vector<InstrumentId>& of_symbols) {
    std::vector<InstrumentId> ids = of_symbols;
    ids.insert(ids.end(), named.numbers.begin(), named.numbers.end());
    for (const std::string& root : named.roots) {
        const auto of_root = market_.instruments().of_root(root);
        ids.insert(ids.end(), of_root.begin(), of_root.end());
    }
    std::ranges::sort(ids);
    ids.erase(std::ranges::unique(ids).begin(), ids.end());
    return ids;
}

void Subscriptions::add_root(Schema schema, const std::string& root) {
    schemas_.insert(schema);
    underlyings_.insert(root);
    if (followed_[index(schema)].roots.insert(root).second) {
        market_.interests().add_root(receiver_, schema, root);
    }
}

/// A key that is limited to some underlyings gets those.
void Subscriptions::add_everything(Schema schema) {
    if (key_.underlyings.empty()) {
        schemas_.insert(schema);
        all_ = served_.empty();
        underlyings_.insert(served_.begin(), served_.end());
        followed_[index(schema)].everything = true;
        market_.interests().add_all(receiver_, schema);
    }
    for (const std::string& root : key_.underlyings) {
        if (served_.empty() || std::find(served_.begin(), served_.end(), root) != served_.end()) {
            add_root(schema, root);
        }
    }
}

std::optional<std::vector<std::string>> Subscriptions::roots_of_all() const {
    if (key_.underlyings.empty()) {
        return served_.empty() ? std::nullopt : std::optional{served_};
    }
    std::vector<std::string> roots = key_.underlyings;
    std::erase_if(roots, [this](const std::string& root) {
        return !served_.empty() && std::find(served_.begin(), served_.end(), root) == served_.end();
    });
    return roots;
}

void Subscriptions::add_symbol(Schema schema, SymbolType type, const std::string& symbol) {
    NamedSeries& followed = followed_[index(schema)];
    Interests& interests = market_.interests();
    if (type == SymbolType::parent) {
        const std::string root = root_of_parent(symbol);
        roots_.insert(root);
        add_root(schema, root);
    } else if (type == SymbolType::instrument_id) {
        const InstrumentId id = number_of(symbol).value_or(0);
        schemas_.insert(schema);
        numbers_.insert(id);
        followed.numbers.insert(id);
        underlyings_.insert(name_of(market_.instruments().key_of(id)).root);
        interests.add(receiver_, schema, id);
    } else {
        schemas_.insert(schema);
        symbols_.insert(symbol);
        followed.symbols.insert(symbol);
        underlyings_.insert(feed::dbn::parse_osi_symbol(symbol)->root);
        interests.add_symbol(receiver_, schema, symbol);
    }
}

Selection Subscriptions::add(Schema schema, const SymbolList& list) {
    if (list.all) {
        add_everything(schema);
        return all_of(schema);
    }
    NamedSeries added;
    for (const std::string& symbol : list.symbols) {
        if (objection_to(symbol, list.type).empty()) {
            add_symbol(schema, list.type, symbol);
            added.add(list.type, symbol);
        }
    }
    const std::vector<InstrumentId> of_symbols = ids_of(added.symbols);
    for (const InstrumentId id : of_symbols) {
        market_.interests().add(receiver_, schema, id);
    }
    return {.everything = false, .ids = ids_of(added, of_symbols)};
}

Selection Subscriptions::remove(Schema schema, const SymbolList& list) {
    if (list.all) {
        return remove_schema(schema);
    }
    NamedSeries& followed = followed_[index(schema)];
    Interests& interests = market_.interests();
    NamedSeries removed;
    for (const std::string& symbol : list.symbols) {
        const std::string root = root_of_parent(symbol);
        const auto id = number_of(symbol);
        if (list.type == SymbolType::parent && followed.roots.erase(root) != 0) {
            interests.remove_root(receiver_, schema, root);
            removed.roots.insert(root);
        } else if (list.type == SymbolType::instrument_id && id &&
                   followed.numbers.erase(*id) != 0) {
            removed.numbers.insert(*id);
        } else if (list.type == SymbolType::raw_symbol && followed.symbols.erase(symbol) != 0) {
            interests.remove_symbol(receiver_, schema, symbol);
            removed.symbols.insert(symbol);
        }
    }
    Selection gone;
    for (const InstrumentId id : ids_of(removed, ids_of(removed.symbols))) {
        if (!followed.names(market_.instruments(), id)) {
            interests.remove(receiver_, schema, id);
            if (!followed.everything) {
                gone.ids.push_back(id);
            }
        }
    }
    return gone;
}

Selection Subscriptions::remove_schema(Schema schema) {
    NamedSeries& followed = followed_[index(schema)];
    Interests& interests = market_.interests();
    if (!followed.empty()) {
        for (const std::string& root : followed.roots) {
            interests.remove_root(receiver_, schema, root);
        }
        for (const std::string& symbol : followed.symbols) {
            interests.remove_symbol(receiver_, schema, symbol);
        }
        interests.remove_schema(receiver_, schema);
        followed = {};
    }
    Selection gone;
    gone.everything = true;
    return gone;
}

void NamedSeries::add(SymbolType type, const std::string& symbol) {
    if (type == SymbolType::parent) {
        roots.insert(root_of_parent(symbol));
    } else if (type == SymbolType::instrument_id) {
        numbers.insert(number_of(symbol).value_or(0));
    } else {
        symbols.insert(symbol);
    }
}

bool NamedSeries::names(const Instruments& instruments, InstrumentId id) const {
    return numbers.contains(id) ||
           (!roots.empty() && roots.contains(name_of(instruments.key_of(id)).root)) ||
           (!symbols.empty() && symbols.contains(instruments.symbol_of(id)));
}

void Subscriptions::remove_all() {
    for (std::size_t i = 0; i < feed::dbn::schemas_count; ++i) {
        static_cast<void>(remove_schema(static_cast<Schema>(i)));
    }
    market_.interests().remove(receiver_);
}

Selection Subscriptions::all_of(Schema schema, const CoreSeries* only) {
    const NamedSeries& followed = followed_[index(schema)];
    Selection selection;
    selection.everything = followed.everything;
    if (followed.everything && only != nullptr) {
        return {.everything = false, .ids = only->ids};
    }
    if (followed.everything) {
        return selection;
    }
    selection.ids = ids_of(followed, ids_of(followed.symbols));
    if (only != nullptr) {
        std::erase_if(selection.ids, [&](InstrumentId id) {
            const Instrument* const at = market_.instruments().find(id);
            return at == nullptr || at->core != only->core;
        });
    }
    return selection;
}

std::pair<SymbolType, std::string> Subscriptions::in_symbol_of(InstrumentId id) {
    const Instruments& instruments = market_.instruments();
    std::string symbol = instruments.symbol_of(id);
    if (symbols_.contains(symbol)) {
        return {SymbolType::raw_symbol, symbol};
    }
    if (numbers_.contains(id)) {
        return {SymbolType::instrument_id, std::to_string(id)};
    }
    const std::string root = name_of(instruments.key_of(id)).root;
    if (roots_.contains(root)) {
        return {SymbolType::parent, root + std::string{parent_ending}};
    }
    return {SymbolType::raw_symbol, symbol};
}

std::size_t Subscriptions::names_count() const {
    return symbols_.size() + numbers_.size() + roots_.size();
}

std::string Subscriptions::schemas_text() const {
    std::string text;
    for (const Schema schema : schemas_) {
        text.append(text.empty() ? "" : " ").append(feed::dbn::name_of(schema));
    }
    return text;
}

std::optional<std::size_t> Subscriptions::underlyings_count() const {
    return all_ ? std::nullopt : std::optional{underlyings_.size()};
}

}  // namespace pinstrike::actors::gateway
