// path: cold
#include "actors/publish/reader/value.h"

#include "actors/publish/reader/side_rules.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string_view>

namespace pinstrike::reader {
namespace {

constexpr std::uint32_t year_first = 2000;

pinstrike_price price_of(std::int32_t value, char code) {
    return {.value = value, .decimals = decimals_of(code), .present = 1, .reserved = {}};
}

void add_trades(pinstrike_value& value, const pinstrike_trades& trades) {
    if ((trades.flags & PINSTRIKE_HAS_OPEN) != 0) {
        value.open = price_of(trades.open, trades.open_code);
    }
    if ((trades.flags & PINSTRIKE_HAS_RANGE) != 0) {
        value.high = price_of(trades.high, trades.high_code);
        value.low = price_of(trades.low, trades.low_code);
    }
    if ((trades.flags & PINSTRIKE_HAS_LAST) != 0) {
        value.last = price_of(trades.last, trades.last_code);
        value.last_size = trades.last_size;
        value.last_participant = trades.last_participant;
        value.last_type = trades.last_type;
    }
    if ((trades.flags & PINSTRIKE_HAS_OPEN_INTEREST) != 0) {
        value.open_interest = trades.open_interest;
        value.has_open_interest = 1;
    }
    value.volume = trades.volume;
    value.trades = trades.trades;
}

}  // namespace

std::uint64_t root_order(std::uint64_t symbol_word) {
    return __builtin_bswap64(symbol_word);
}

std::optional<std::uint64_t> symbol_word_of(const char* root) {
    if (root == nullptr) {
        return std::nullopt;
    }
    const std::string_view text{root, ::strnlen(root, feed::SeriesKey::symbol_bytes + 1)};
    if (text.empty() || text.size() > feed::SeriesKey::symbol_bytes) {
        return std::nullopt;
    }
    return feed::symbol_word_of(text);
}

std::optional<feed::SeriesKey> series_key_of(const pinstrike_key& key) {
    const auto symbol = symbol_word_of(key.root);
    const std::uint32_t year = key.expiration / 10'000;
    const std::uint32_t month = key.expiration / 100 % 100;
    if (!symbol || year < year_first || year - year_first > 255 || month < 1 || month > 12 ||
        (key.right != 'C' && key.right != 'P')) {
        return std::nullopt;
    }
    auto bytes = std::bit_cast<std::array<char, 8>>(*symbol);
    const auto letter =
        static_cast<unsigned char>(feed::SeriesKey::letter_of(month, key.right == 'C'));
    bytes[5] = static_cast<char>(letter | (key.gth != 0 ? feed::SeriesKey::gth_bit : 0U));
    bytes[6] = static_cast<char>(key.expiration % 100);
    bytes[7] = static_cast<char>(year - year_first);
    return feed::SeriesKey{std::bit_cast<std::uint64_t>(bytes), key.strike_e8};
}

bool is_listed(const SeriesParts& parts) {
    const bool heard = parts.entry.quotes != 0 || (parts.entry.record & PINSTRIKE_TRADES) != 0;
    return heard && !stamp_after(parts.line.day, parts.entry.stamp);
}

bool is_announced(const SeriesParts& parts) {
    constexpr unsigned starts_of_day_shift = 30;
    return parts.entry.record >> starts_of_day_shift != 0;
}

void write_value(pinstrike_value& value, const CoreView& core, const feed::SeriesKey& key,
                 const SeriesParts& parts, const Tail& tail) {
    const pinstrike_entry& entry = parts.entry;
    write_unreadable(value, core, key);
    value.key.id = parts.id;
    value.old = PINSTRIKE_CURRENT;
    value.line = line_of(entry.stamp);
    value.stamp = place_of(entry.stamp);
    if (!is_listed(parts)) {
        return;
    }
    pinstrike_side bid = entry.bid;
    pinstrike_side offer = entry.offer;
    follow_line(bid, entry.stamp, parts.line);
    follow_line(offer, entry.stamp, parts.line);
    write_side(value.bid, bid, parts.line);
    write_side(value.offer, offer, parts.line);
    if ((entry.record & PINSTRIKE_TRADES) != 0) {
        add_trades(value, parts.trades);
    }
    value.quotes = entry.quotes;
    value.changed_ns = tail.time_ns_of(entry.stamp);
}

void write_unreadable(pinstrike_value& value, const CoreView& core, const feed::SeriesKey& key) {
    value = {};
    write_key(value.key, key, 0);
    value.bid.participant = value.offer.participant = ' ';
    value.last_participant = value.last_type = ' ';
    value.old = PINSTRIKE_UNREADABLE;
    value.core = core.index;
}

}  // namespace pinstrike::reader
