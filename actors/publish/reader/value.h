// path: cold
//
// Keys and values as users of the library get them.
#pragma once

#include "actors/publish/pinstrike.h"
#include "actors/publish/reader/series_reader.h"
#include "feed/event/series_key.h"

#include <cstdint>
#include <optional>

namespace pinstrike::reader {

/// An expiration as 20261218.
[[nodiscard]] std::uint32_t expiration_of(const feed::SeriesKey& key);

[[nodiscard]] char right_of(const feed::SeriesKey& key);

/// A root as a number whose order is that of the text.
[[nodiscard]] std::uint64_t root_order(std::uint64_t symbol_word);

/// Writes five bytes, padded with spaces, as text.
void write_root(char (&text)[6], std::uint64_t symbol_word);

/// A root as SeriesKey::symbol_word(); nullopt: longer than five characters, or empty.
[[nodiscard]] std::optional<std::uint64_t> symbol_word_of(const char* root);

[[nodiscard]] pinstrike_key key_of(const feed::SeriesKey& key, std::uint32_t id);

/// nullopt: no series can have this key.
[[nodiscard]] std::optional<feed::SeriesKey> series_key_of(const pinstrike_key& key);

/// Whether messages stated something of the series since the last start of day.
[[nodiscard]] bool is_listed(const SeriesParts& parts);

/// The state of a listed series. `tail` gives the time of its stamp.
[[nodiscard]] pinstrike_value value_of(const CoreView& core, const feed::SeriesKey& key,
                                       const SeriesParts& parts, const Tail& tail);

/// The value of a series that could not be read.
[[nodiscard]] pinstrike_value unreadable_value(const CoreView& core, const feed::SeriesKey& key);

}  // namespace pinstrike::reader
