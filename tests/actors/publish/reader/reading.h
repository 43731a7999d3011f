// path: cold
//
// A reader of the published feed, by the functions of pinstrike.h.
#pragma once

#include "actors/book/series_state.h"
#include "actors/publish/pinstrike.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace pinstrike::actors::test {

struct CloseFeed {
    void operator()(pinstrike_feed* feed) const { pinstrike_close(feed); }
};

struct CloseStream {
    void operator()(pinstrike_stream* stream) const { pinstrike_unsubscribe(stream); }
};

using FeedHandle = std::unique_ptr<pinstrike_feed, CloseFeed>;
using StreamHandle = std::unique_ptr<pinstrike_stream, CloseStream>;

inline FeedHandle open_test_feed() {
    FeedHandle feed{pinstrike_open("test")};
    EXPECT_NE(feed, nullptr) << pinstrike_error();
    return feed;
}

inline StreamHandle subscribe(pinstrike_feed* feed, const pinstrike_filter* filter = nullptr) {
    StreamHandle stream{pinstrike_subscribe(feed, filter)};
    EXPECT_NE(stream, nullptr) << pinstrike_error();
    return stream;
}

inline std::vector<pinstrike_value> chain_of(pinstrike_feed* feed,
                                             const pinstrike_filter* filter = nullptr) {
    const ptrdiff_t count = pinstrike_chain(feed, filter, nullptr, 0);
    EXPECT_GE(count, 0) << pinstrike_error();
    std::vector<pinstrike_value> values(static_cast<std::size_t>(std::max<ptrdiff_t>(count, 0)));
    EXPECT_EQ(pinstrike_chain(feed, filter, values.data(), values.size()), count);
    return values;
}

inline std::vector<pinstrike_value> snapshot_of(pinstrike_stream* stream) {
    std::vector<pinstrike_value> values(
        static_cast<std::size_t>(pinstrike_snapshot(stream, nullptr, 0)));
    pinstrike_snapshot(stream, values.data(), values.size());
    return values;
}

/// All events that have arrived.
inline std::vector<pinstrike_record> drain(pinstrike_stream* stream) {
    std::vector<pinstrike_record> all;
    for (;;) {
        std::vector<pinstrike_record> batch(37);
        const ptrdiff_t count = pinstrike_poll(stream, batch.data(), batch.size());
        EXPECT_GE(count, 0) << pinstrike_error();
        if (count <= 0) {
            return all;
        }
        all.insert(all.end(), batch.begin(), batch.begin() + count);
    }
}

inline std::string text_of(const pinstrike_best& best) {
    return std::to_string(best.present) + ' ' + best.participant + ' ' +
           std::to_string(best.price) + ' ' + std::to_string(best.decimals) + ' ' +
           std::to_string(best.size) + ' ' + std::to_string(best.state);
}

/// The same of a side as the book gives it.
inline std::string text_of(const std::optional<BestQuote>& best, SideState state) {
    pinstrike_best out{};
    out.participant = ' ';
    out.state = static_cast<std::uint8_t>(state);
    if (best) {
        out.present = 1;
        out.participant = best->participant;
        out.price = best->price.value;
        out.decimals = static_cast<std::uint8_t>(feed::decimals(best->price.code));
        out.size = best->size;
    }
    return text_of(out);
}

inline std::string text_of(const pinstrike_price& price) {
    return price.present == 0 ? "-"
                              : std::to_string(price.value) + '/' + std::to_string(price.decimals);
}

inline std::string text_of(const std::optional<Price>& price) {
    return price ? std::to_string(price->value) + '/' + std::to_string(feed::decimals(price->code))
                 : "-";
}

inline std::string text_of(const pinstrike_value& value) {
    return text_of(value.bid) + " | " + text_of(value.offer) + " | " + text_of(value.open) + ' ' +
           text_of(value.high) + ' ' + text_of(value.low) + ' ' + text_of(value.last) + ' ' +
           (value.last.present != 0
                ? std::to_string(value.last_size) + value.last_type + value.last_participant
                : "-") +
           " | " + std::to_string(value.volume) + ' ' + std::to_string(value.trades) + ' ' +
           std::to_string(value.quotes) + ' ' +
           (value.has_open_interest != 0 ? std::to_string(value.open_interest) : "-") + ' ' +
           std::to_string(value.line);
}

inline std::string text_of(const SeriesState& state) {
    const std::optional<Price> last = state.last ? std::optional{state.last->price} : std::nullopt;
    return text_of(state.bid, state.bid_state) + " | " + text_of(state.offer, state.offer_state) +
           " | " + text_of(state.open) + ' ' + text_of(state.high) + ' ' + text_of(state.low) +
           ' ' + text_of(last) + ' ' +
           (state.last
                ? std::to_string(state.last->size) + state.last->type + state.last->participant
                : "-") +
           " | " + std::to_string(state.volume) + ' ' + std::to_string(state.trades) + ' ' +
           std::to_string(state.quotes) + ' ' +
           (state.open_interest ? std::to_string(*state.open_interest) : "-") + ' ' +
           std::to_string(state.line);
}

}  // namespace pinstrike::actors::test
