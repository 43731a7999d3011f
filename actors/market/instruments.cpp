// path: cold
#include "actors/market/instruments.h"

#include "config/check.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace pinstrike::actors {
namespace {

std::string root_of(const pinstrike_key& key) {
    return {key.root, ::strnlen(key.root, sizeof key.root)};
}

}  // namespace

Instrument& Instruments::add(const pinstrike_key& key) {
    PINSTRIKE_CHECK(key.id >= 1 && key.id <= instruments_max);
    if (key.id >= end()) {
        grow(key.id + std::size_t{1});
    }
    Instrument& row = rows_[key.id];
    if (!row.known) {
        row = {};
        row.known = true;
        row.key_hash = hash_of(key);
        keys_[key.id] = key;
        by_root_[root_of(key)].push_back(key.id);
        ++count_;
    }
    return row;
}

void Instruments::grow(std::size_t count) {
    constexpr std::size_t rows_min = 16'384;
    if (count > rows_.size()) {
        PageArray<Instrument> larger{std::max({count, 2 * rows_.size(), rows_min})};
        std::copy_n(rows_.data(), keys_.size(), larger.data());
        rows_ = std::move(larger);
    }
    keys_.resize(count);
}

std::string Instruments::symbol_of(InstrumentId id) const {
    return feed::dbn::osi_symbol(name_of(keys_[id]));
}

std::span<const InstrumentId> Instruments::of_root(const std::string& root) const {
    const auto found = by_root_.find(root);
    return found == by_root_.end() ? std::span<const InstrumentId>{} : found->second;
}

void Instruments::clear() {
    rows_ = {};
    keys_.clear();
    by_root_.clear();
    count_ = 0;
}

feed::dbn::SeriesName name_of(const pinstrike_key& key) {
    return {root_of(key), key.expiration, key.right, key.strike_e8};
}

}  // namespace pinstrike::actors
