// path: cold
#include "actors/market/interests.h"

#include <algorithm>
#include <utility>

namespace pinstrike::actors {
namespace {

using feed::dbn::Schema;

}  // namespace

void Interests::count(RecordReceiver& receiver, Schema schema) {
    ids_of_.try_emplace(&receiver);
    ++counts_[index(schema)];
}

void Interests::add_all(RecordReceiver& receiver, Schema schema) {
    count(receiver, schema);
    auto& all = everything_[index(schema)];
    if (std::find(all.begin(), all.end(), &receiver) == all.end()) {
        all.push_back(&receiver);
    }
    note_everything();
}

void Interests::note_everything() {
    has_everything_ = std::any_of(everything_.begin(), everything_.end(),
                                  [](const auto& all) { return !all.empty(); });
}

void Interests::add(RecordReceiver& receiver, Schema schema, InstrumentId id) {
    count(receiver, schema);
    add_bits(receiver, bit(schema), id);
}

void Interests::add_root(RecordReceiver& receiver, Schema schema, const std::string& root) {
    count(receiver, schema);
    roots_[root].emplace(&receiver, bit(schema));
    for (const InstrumentId id : instruments_.of_root(root)) {
        add_bits(receiver, bit(schema), id);
    }
}

void Interests::add_symbol(RecordReceiver& receiver, Schema schema, const std::string& symbol) {
    count(receiver, schema);
    symbols_[symbol].emplace(&receiver, bit(schema));
}

void Interests::remove(RecordReceiver& receiver, Schema schema, InstrumentId id) {
    remove_bits(receiver, bit(schema), id);
}

void Interests::remove_root(RecordReceiver& receiver, Schema schema, const std::string& root) {
    remove_name(roots_, receiver, schema, root);
}

void Interests::remove_symbol(RecordReceiver& receiver, Schema schema, const std::string& symbol) {
    remove_name(symbols_, receiver, schema, symbol);
}

void Interests::remove_name(std::unordered_map<std::string, Wanted>& table,
                            RecordReceiver& receiver, Schema schema, const std::string& name) {
    if (const auto found = table.find(name); found != table.end()) {
        found->second.erase({&receiver, bit(schema)});
        if (found->second.empty()) {
            table.erase(found);
        }
    }
}

void Interests::remove_schema(RecordReceiver& receiver, Schema schema) {
    std::erase(everything_[index(schema)], &receiver);
    note_everything();
    remove_ids(receiver, bit(schema));
}

void Interests::remove(RecordReceiver& receiver) {
    for (auto& all : everything_) {
        std::erase(all, &receiver);
    }
    note_everything();
    remove_ids(receiver, UINT16_MAX);
    ids_of_.erase(&receiver);
}

void Interests::remove_ids(RecordReceiver& receiver, std::uint16_t schemas) {
    if (const auto found = ids_of_.find(&receiver); found != ids_of_.end()) {
        for (std::size_t id = 0; id < found->second.size(); ++id) {
            if (found->second[id]) {
                remove_bits(receiver, schemas, static_cast<InstrumentId>(id));
            }
        }
    }
}

void Interests::on_new(InstrumentId id) {
    const auto apply = [&](const std::unordered_map<std::string, Wanted>& table,
                           const std::string& name) {
        if (const auto found = table.find(name); found != table.end()) {
            for (const auto& [receiver, schema_bit] : found->second) {
                add_bits(*receiver, schema_bit, id);
            }
        }
    };
    if (!roots_.empty()) {
        apply(roots_, name_of(instruments_.key_of(id)).root);
    }
    if (!symbols_.empty()) {
        apply(symbols_, instruments_.symbol_of(id));
    }
}

void Interests::clear_series() {
    lists_.assign(1, {});
    free_lists_.clear();
    for (auto& [receiver, ids] : ids_of_) {
        ids.clear();
    }
}

void Interests::add_bits(RecordReceiver& receiver, std::uint16_t schemas, InstrumentId id) {
    Instrument* const instrument = instruments_.find(id);
    if (instrument == nullptr) {
        return;
    }
    const bool is_free = instrument->only_client == nullptr && instrument->interests == 0;
    if (is_free || instrument->only_client == &receiver) {
        instrument->only_client = &receiver;
    } else {
        add_to_list(*instrument, receiver, schemas);
    }
    instrument->schemas = static_cast<std::uint16_t>(instrument->schemas | schemas);
    std::vector<bool>& ids = ids_of_[&receiver];
    ids.resize(std::max<std::size_t>(ids.size(), id + std::size_t{1}));
    ids[id] = true;
}

void Interests::add_to_list(Instrument& instrument, RecordReceiver& receiver,
                            std::uint16_t schemas) {
    if (instrument.interests == 0) {
        if (free_lists_.empty()) {
            free_lists_.push_back(static_cast<std::uint32_t>(lists_.size()));
            lists_.emplace_back();
        }
        instrument.interests = free_lists_.back();
        free_lists_.pop_back();
        lists_[instrument.interests].push_back(
            {std::exchange(instrument.only_client, nullptr), instrument.schemas});
    }
    auto& list = lists_[instrument.interests];
    const auto same = [&](const Interest& one) { return one.receiver == &receiver; };
    const auto found = std::find_if(list.begin(), list.end(), same);
    if (found == list.end()) {
        list.push_back({&receiver, schemas});
    } else {
        found->schemas = static_cast<std::uint16_t>(found->schemas | schemas);
    }
}

void Interests::remove_bits(RecordReceiver& receiver, std::uint16_t schemas, InstrumentId id) {
    Instrument* const instrument = instruments_.find(id);
    if (instrument == nullptr) {
        return;
    }
    if (instrument->only_client == &receiver) {
        instrument->schemas = static_cast<std::uint16_t>(instrument->schemas & ~schemas);
        instrument->only_client = instrument->schemas == 0 ? nullptr : &receiver;
        return;
    }
    if (instrument->interests == 0) {
        return;
    }
    auto& list = lists_[instrument->interests];
    std::uint16_t left = 0;
    for (Interest& one : list) {
        if (one.receiver == &receiver) {
            one.schemas = static_cast<std::uint16_t>(one.schemas & ~schemas);
        }
        left = static_cast<std::uint16_t>(left | one.schemas);
    }
    std::erase_if(list, [](const Interest& one) { return one.schemas == 0; });
    instrument->schemas = left;
    if (list.empty()) {
        free_lists_.push_back(instrument->interests);
        instrument->interests = 0;
    }
}

/// A client that wants all series of the schema has got the record already.
void Interests::deliver_listed(Schema schema, InstrumentId id, const Instrument& instrument,
                               std::span<const std::byte> record) const {
    const auto& all = everything_[index(schema)];
    const auto has_got = [&all](const RecordReceiver* receiver) {
        return !all.empty() && std::find(all.begin(), all.end(), receiver) != all.end();
    };
    if (instrument.only_client != nullptr) {
        if (!has_got(instrument.only_client)) {
            instrument.only_client->receive(schema, id, record);
        }
        return;
    }
    for (const Interest& one : lists_[instrument.interests]) {
        if ((one.schemas & bit(schema)) != 0 && !has_got(one.receiver)) {
            one.receiver->receive(schema, id, record);
        }
    }
}

void Interests::end_interval(Schema schema, std::int64_t end_ns) const {
    for (const auto& [receiver, ids] : ids_of_) {
        receiver->interval_ended(schema, end_ns);
    }
}

}  // namespace pinstrike::actors
