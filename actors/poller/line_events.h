// path: hot
//
// The EventSink (feed/event/event_sink.h) through which a codec writes the events of a line to a
// router. It also applies the effects of numbered control messages to the line.
#pragma once

#include "actors/poller/router.h"
#include "feed/arbitration/line_counts.h"
#include "feed/event/event.h"

#include <cstddef>
#include <span>

namespace pinstrike::actors {

/// Lives for one call of the codec. `Line` is the PollerLine that Router::begin() selected.
template <class Line>
struct LineEvents {
    Router& router;
    Line& line;
    bool test_symbols;  ///< the config wants test symbols

    feed::Event* offer(std::size_t records) { return router.offer(records); }

    void take(std::size_t messages, std::size_t records) { router.take(messages, records); }

    void push(std::span<const feed::Event> message) { router.push(message); }

    /// A control message with a number of its own.
    void broadcast(const feed::Event& event) {
        line.arbiter.counters().bump(feed::LineCount::controls);
        router.broadcast(event);
        if (event.body.control.forget != feed::Forget::nothing) {
            line.arbiter.flush_at(event.header.number());
        }
        if (event.body.control.ends_day) {
            line.day.end(event.header.ts_exchange_ns);
        }
    }

    void filtered() { line.arbiter.counters().bump(feed::LineCount::filtered); }

    [[nodiscard]] bool wants_tests() const { return test_symbols; }
};

}  // namespace pinstrike::actors
