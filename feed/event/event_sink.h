// path: hot
#pragma once

#include "feed/event/event.h"
#include "feed/event/series_key.h"

#include <concepts>
#include <cstdint>

namespace pinstrike::feed {

/// Where decoded messages go: the router of a poller, or a collector in tests.
///
/// claim() returns `records` contiguous slots, or nullptr if the ring refuses them. The decoder
/// fills every byte that an actor may read. offer() returns contiguous slots for the records of
/// many messages, each of a series or a symbol, or nullptr. take() says how many messages and
/// records were written there, and must precede the next claim. filtered() is called for each
/// message that is not delivered because it is a test.
template <class Sink>
concept EventSink = requires(Sink& sink, const SeriesKey& key, std::uint64_t symbol_word,
                             std::uint16_t line, unsigned records, const Event& event) {
    { sink.claim(key, records) } -> std::same_as<Event*>;
    { sink.claim_symbol(symbol_word, records) } -> std::same_as<Event*>;
    { sink.claim_line(line, records) } -> std::same_as<Event*>;
    { sink.offer(records) } -> std::same_as<Event*>;
    sink.take(records, records);
    sink.broadcast(event);
    sink.filtered();
    { sink.wants_tests() } -> std::convertible_to<bool>;
};

}  // namespace pinstrike::feed
