// path: cold
//
// A book, and events for it.
#pragma once

#include "actors/book/book.h"
#include "tests/actors/book/events.h"

#include <gtest/gtest.h>

namespace pinstrike::actors::test {

inline constexpr std::uint8_t late_only = feed::flag_late;
inline constexpr std::uint8_t late_flush = feed::flag_late | feed::flag_before_flush;
inline constexpr std::uint8_t late_day =
    feed::flag_late | feed::flag_before_flush | feed::flag_before_day;
inline constexpr std::uint16_t one_line = 4;
inline constexpr std::uint16_t other_line = 7;

class BookTest : public testing::Test {
  protected:
    BookTest() { book_.on_start({}); }

    SeriesState state(const feed::SeriesKey& key) {
        events_.play(book_);
        return book_.find(key).value_or(SeriesState{});
    }

    SeriesState state() { return state(key_); }

    bool listed(const feed::SeriesKey& key) {
        events_.play(book_);
        return book_.find(key).has_value();
    }

    void trade(char type, std::int32_t price, std::uint32_t volume, std::uint8_t flags = 0) {
        events_.trade(key_, one_line, ++sequence_, type, price, volume, flags);
    }

    Book book_{small_book, 1};
    Events events_;
    feed::SeriesKey key_ = key_of("SPY");
    std::uint32_t sequence_ = 0;
};

}  // namespace pinstrike::actors::test
