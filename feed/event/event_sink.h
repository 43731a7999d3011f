// path: hot
#pragma once

#include "feed/event/event.h"

#include <concepts>
#include <cstddef>
#include <span>

namespace pinstrike::feed {

/// Where decoded messages go: the router of a poller, or a collector in tests.
///
/// next_slots() returns contiguous slots for the records of many messages, each of a series or an
/// underlying; nullptr: there are none. commit() says how many messages and records were written
/// there. What was not committed before the next call is discarded. push() copies one message,
/// whose records are `message`. broadcast() sends a control to every core. filtered() is called for
/// each message that is not delivered, because it is a test or concerns no actor.
template <class Sink>
concept EventSink =
    requires(Sink& sink, std::size_t records, std::span<const Event> message, const Event& event) {
        { sink.next_slots(records) } -> std::same_as<Event*>;
        sink.commit(records, records);
        sink.push(message);
        sink.broadcast(event);
        sink.filtered();
        { sink.wants_tests() } -> std::convertible_to<bool>;
    };

}  // namespace pinstrike::feed
