// path: cold
//
// A reader of the published feed, by the functions of pinstrike.h.
#pragma once

#include "actors/publish/pinstrike.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
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

}  // namespace pinstrike::actors::test
