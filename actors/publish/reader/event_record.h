// path: cold
#pragma once

#include "actors/publish/pinstrike.h"
#include "feed/event/event.h"

#include <cstdint>
#include <string>

namespace pinstrike::reader {

/// Whether users know events of this kind.
[[nodiscard]] bool is_delivered(feed::EventKind kind);

/// Whether an event is a message about a series.
[[nodiscard]] bool has_series(feed::EventKind kind);

/// The second record of a quote; nullptr: it has none.
[[nodiscard]] const feed::QuoteBest* appendage_of(const feed::Event& event);

/// An event as users get it, without key, best, and text.
[[nodiscard]] pinstrike_record record_of(const feed::Event& event, std::uint16_t core,
                                         std::uint64_t stamp);

/// The text of an event of that kind.
[[nodiscard]] std::string text_of(const feed::Event& event);

}  // namespace pinstrike::reader
