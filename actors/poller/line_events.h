// path: hot
//
// Where a codec puts the events of a line: an EventSink (feed/opra/decode.h) in front of a router.
// What a control among the numbered messages means for its line happens here as well.
#pragma once

#include "actors/poller/router.h"
#include "feed/arbitration/line_counts.h"
#include "feed/event/event.h"
#include "feed/event/series_key.h"

#include <cstddef>
#include <cstdint>

namespace pinstrike::actors {

/// For one call of the codec. `Line` is a PollerLine that the router was told of.
template <class Line>
struct LineEvents {
    Router& router;
    Line& line;
    bool test_symbols;  ///< wanted

    feed::Event* claim(const feed::SeriesKey& series, unsigned records) {
        return router.claim(series, records);
    }

    feed::Event* claim_symbol(std::uint64_t symbol_word, unsigned records) {
        return router.claim_symbol(symbol_word, records);
    }

    feed::Event* claim_line(std::uint16_t number, unsigned records) {
        return router.claim_line(number, records);
    }

    feed::Event* offer(std::size_t records) { return router.offer(records); }

    void take(std::size_t messages, std::size_t records) { router.take(messages, records); }

    /// A control among the numbered messages.
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
