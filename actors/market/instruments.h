// path: hot
//
// What is known of each series: the values from which records are made. The id of a series is
// pinstrike_key.id, and the index of these tables.
#pragma once

#include "actors/publish/pages.h"
#include "actors/publish/pinstrike.h"
#include "config/cache_line.h"
#include "feed/dbn/osi_symbol.h"
#include "feed/dbn/records.h"
#include "feed/event/series_key.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace pinstrike::actors {

using InstrumentId = std::uint32_t;

/// Ids may come from a memory file. A higher one is refused, so that a damaged file cannot use up
/// the memory.
inline constexpr InstrumentId instruments_max = 16'000'000;

class RecordReceiver;

/// The latest values of a series: two cache lines, which prefetch() loads. Prices and times are
/// DBN's.
struct alignas(cache_line_bytes) Instrument {
    feed::dbn::ConsolidatedLevel best;
    std::uint64_t stamp = 0;  ///< of the event that stated `best` (pinstrike_stamp_after())
    std::int64_t last_price = feed::dbn::undefined_price;
    std::uint64_t last_trade_ns = feed::dbn::undefined_time;
    std::uint32_t last_size = 0;
    std::uint32_t bid_sequence = 0;  ///< of the message that stated it; 0: of another line
    std::uint32_t offer_sequence = 0;
    RecordReceiver* only_client =
        nullptr;                  ///< if one client follows it; most series have none or one
    std::uint32_t interests = 0;  ///< index of the list of clients, if several follow it; 0: none
    std::uint16_t schemas = 0;    ///< bits of the schemas that they want
    std::uint32_t key_hash = 0;
    std::uint16_t line = 0;
    std::uint16_t core = 0;
    bool known = false;
    bool heard = false;        ///< a message stated something of it; else it is only announced
    bool has_sides = false;    ///< a quote stated a side of `best`, or that there is none
    bool stale = false;        ///< messages were lost after the quote that stated `best`
    std::uint8_t changed = 0;  ///< bits of the intervals in which best or last trade changed
    bool has_open_interest = false;
    std::uint32_t open_interest = 0;
    std::uint8_t round = 0;  ///< Market::begin_state() of its core, when it was last stated

    void forget_values() {
        best = {};
        stamp = 0;
        bid_sequence = offer_sequence = 0;
        has_sides = stale = has_open_interest = false;
        forget_last();
    }

    void forget_last() {
        last_price = feed::dbn::undefined_price;
        last_trade_ns = feed::dbn::undefined_time;
        last_size = 0;
    }
};

static_assert(sizeof(Instrument) == 2 * cache_line_bytes);

/// A hash of the series, without its id. Roots are padded with zeros.
[[nodiscard]] inline std::uint32_t hash_of(const pinstrike_key& key) {
    static_assert(offsetof(pinstrike_key, expiration) == 8, "root, right and gth");
    std::uint64_t name = 0;
    std::memcpy(&name, &key, sizeof name);
    const std::uint64_t mixed =
        feed::fold(name ^ std::uint64_t{key.expiration} << 20,
                   static_cast<std::uint64_t>(key.strike_e8) ^ 0x9E37'79B9'7F4A'7C15ULL);
    return static_cast<std::uint32_t>(mixed ^ mixed >> 32);
}

class Instruments {
  public:
    /// Null: no series has this id.
    [[nodiscard]] Instrument* find(InstrumentId id) {
        return id < end() && rows_[id].known ? &rows_[id] : nullptr;
    }

    /// Whether the id of this key belongs to another series here: the day's list has changed.
    [[nodiscard]] bool contradicts(const pinstrike_key& key) const {
        return key.id < end() && rows_[key.id].known && rows_[key.id].key_hash != hash_of(key);
    }

    /// Loads the row of a series that is needed soon.
    void prefetch(InstrumentId id) const {
        if (id < end()) {
            const auto* const row = reinterpret_cast<const char*>(&rows_[id]);  // tidy: an address
            __builtin_prefetch(row);
            __builtin_prefetch(row + sizeof(Instrument) - 1);
        }
    }

    /// Adds a series that does not contradict, if it is new; `key.id` is from 1 to instruments_max.
    Instrument& add(const pinstrike_key& key);

    /// The key of a known series.
    [[nodiscard]] const pinstrike_key& key_of(InstrumentId id) const { return keys_[id]; }

    [[nodiscard]] std::string symbol_of(InstrumentId id) const;

    /// All ids are below.
    [[nodiscard]] InstrumentId end() const { return static_cast<InstrumentId>(keys_.size()); }

    [[nodiscard]] std::size_t count() const { return count_; }

    [[nodiscard]] std::span<const InstrumentId> of_root(const std::string& root) const;

    void clear();

  private:
    void grow(std::size_t count);

    PageArray<Instrument> rows_;  ///< huge pages: each event reads a row at random
    std::vector<pinstrike_key> keys_;
    std::unordered_map<std::string, std::vector<InstrumentId>> by_root_;
    std::size_t count_ = 0;
};

[[nodiscard]] feed::dbn::SeriesName name_of(const pinstrike_key& key);

}  // namespace pinstrike::actors
