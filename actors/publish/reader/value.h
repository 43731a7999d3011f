// path: cold
//
// Keys and values as users of the library get them.
#pragma once

#include "actors/publish/pinstrike.h"
#include "actors/publish/reader/series_reader.h"
#include "feed/event/series_key.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

namespace pinstrike::reader {

/// An expiration as 20261218.
[[nodiscard]] inline std::uint32_t expiration_of(const feed::SeriesKey& key) {
    return key.year() * 10'000 + (key.month() & 0xFF) * 100 + key.day();
}

[[nodiscard]] inline char right_of(const feed::SeriesKey& key) {
    return key.call() ? 'C' : 'P';
}

/// A root as a number whose order is that of the text.
[[nodiscard]] std::uint64_t root_order(std::uint64_t symbol_word);

/// Five bytes, padded with spaces, as text: padded with zeros, in the low 48 bits. Without a loop,
/// because each record of a stream has a root.
[[nodiscard]] inline std::uint64_t root_text(std::uint64_t symbol_word) {
    constexpr std::uint64_t spaces = 0x20'2020'2020;
    const std::uint64_t word = symbol_word & feed::SeriesKey::symbol_mask;
    const int padding = std::countl_zero(word ^ spaces) / 8 * 8;
    return padding == 64 ? 0 : word & ~std::uint64_t{0} >> padding;
}

/// A root as SeriesKey::symbol_word(); nullopt: longer than five characters, or empty.
[[nodiscard]] std::optional<std::uint64_t> symbol_word_of(const char* root);

inline void write_key(pinstrike_key& out, const feed::SeriesKey& key, std::uint32_t id) {
    // The first eight bytes are root, right and gth.
    const std::uint64_t text = root_text(key.symbol_word()) |
                               std::uint64_t{static_cast<unsigned char>(right_of(key))} << 48 |
                               std::uint64_t{key.gth() ? 1U : 0U} << 56;
    static_assert(offsetof(pinstrike_key, expiration) == sizeof text);
    std::memcpy(&out, &text, sizeof text);
    out.expiration = expiration_of(key);
    out.id = id;
    out.strike_e8 = key.strike_e8;
}

[[nodiscard]] inline pinstrike_key key_of(const feed::SeriesKey& key, std::uint32_t id) {
    pinstrike_key out;
    write_key(out, key, id);
    return out;
}

/// nullopt: no series can have this key.
[[nodiscard]] std::optional<feed::SeriesKey> series_key_of(const pinstrike_key& key);

/// Whether messages stated something of the series since the last start of day.
[[nodiscard]] bool is_listed(const SeriesParts& parts);

/// Whether the day's list or a series map announced it.
[[nodiscard]] bool is_announced(const SeriesParts& parts);

/// Writes the state of a series, whose stamp has its time in `tail`. Of a series that is not listed
/// it writes only key, line, core and stamp.
void write_value(pinstrike_value& value, const CoreView& core, const feed::SeriesKey& key,
                 const SeriesParts& parts, const Tail& tail);

/// Writes the value of a series that could not be read.
void write_unreadable(pinstrike_value& value, const CoreView& core, const feed::SeriesKey& key);

/// Writes what a read gave. `over`: the writer has ended or died.
inline void write_result(pinstrike_value& value, const CoreView& core, const feed::SeriesKey& key,
                         ReadResult result, const SeriesParts& parts, const Tail& tail, bool over) {
    if (result == ReadResult::unreadable) {
        write_unreadable(value, core, key);
    } else {
        write_value(value, core, key, parts, tail);
        value.old = over ? PINSTRIKE_OLD : PINSTRIKE_CURRENT;
    }
}

}  // namespace pinstrike::reader
