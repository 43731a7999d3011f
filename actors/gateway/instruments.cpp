// path: cold
#include "actors/gateway/instruments.h"

#include "config/check.h"

#include <cstring>

namespace pinstrike::actors::gateway {
namespace {

std::string root_of(const pinstrike_key& key) {
    return {key.root, ::strnlen(key.root, sizeof key.root)};
}

}  // namespace

Instrument& Instruments::add(const pinstrike_key& key) {
    PINSTRIKE_CHECK(key.id >= 1 && key.id <= instruments_max);
    if (key.id >= rows_.size()) {
        rows_.resize(key.id + 1);
        keys_.resize(key.id + 1);
    }
    Instrument& row = rows_[key.id];
    if (!row.known) {
        row.known = true;
        row.key_hash = hash_of(key);
        keys_[key.id] = key;
        by_root_[root_of(key)].push_back(key.id);
        ++count_;
    }
    return row;
}

std::string Instruments::symbol_of(InstrumentId id) const {
    return feed::dbn::osi_symbol(name_of(keys_[id]));
}

std::span<const InstrumentId> Instruments::of_root(const std::string& root) const {
    const auto found = by_root_.find(root);
    return found == by_root_.end() ? std::span<const InstrumentId>{} : found->second;
}

void Instruments::clear() {
    rows_.clear();
    keys_.clear();
    by_root_.clear();
    count_ = 0;
}

feed::dbn::SeriesName name_of(const pinstrike_key& key) {
    return {root_of(key), key.expiration, key.right, key.strike_e8};
}

}  // namespace pinstrike::actors::gateway
