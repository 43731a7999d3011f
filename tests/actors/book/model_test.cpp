// path: cold
//
// Compares book and model after random sessions of several lines, with losses, late messages,
// repairs, resets, moves and wraps.
#include "tests/actors/book/model.h"

#include "actors/book/book_json.h"
#include "tests/actors/book/events.h"
#include "tests/actors/book/session.h"

#include <gtest/gtest.h>

#include <string>

namespace pinstrike::actors::test {
namespace {

void compare(const Session& session, const Book& book, const Model& model) {
    for (unsigned index = 0; index < Session::series_count; ++index) {
        const auto expected = model.find(session.key(index));
        const auto found = book.find(session.key(index));
        ASSERT_EQ(expected.has_value(), found.has_value()) << "series " << index;
        if (expected) {
            ASSERT_EQ(series_json(*expected), series_json(*found)) << "series " << index;
        }
    }
    ASSERT_EQ(book.series_count(), model.series_count());
}

void play(std::uint64_t seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Session session(seed);
    Book book(BookConfig{.series_capacity = 64}, 1);
    book.on_start({});
    if (seed % 3 != 0) {  // announcements must change no state
        Events announced;
        for (unsigned index = 0; index < Session::series_count; index += seed % 2 == 0 ? 1 : 2) {
            const auto line = static_cast<std::uint16_t>(1 + index % Session::lines_count);
            announced.series_map(session.key(index), line, 0, feed::flag_from_file);
        }
        announced.play(book);
    }
    Model model;
    for (int batch = 0; batch < 60; ++batch) {
        Events events;
        const unsigned steps = session.below(400);  // some batches have several stretches
        for (unsigned step = 0; step < steps; ++step) {
            session.step(events);
        }
        for (const feed::Event& event : events.batch()) {
            model.apply(event);
        }
        events.play(book);
        if (session.below(8) == 0) {
            book.on_timer(batch * 1'000'000'000LL);
        }
        compare(session, book, model);
        if (testing::Test::HasFatalFailure()) {
            return;
        }
    }
    EXPECT_EQ(book.counters().read(BookCount::series_refused), 0U);
}

TEST(BookModel, RandomSessionsAgree) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        play(seed);
        if (testing::Test::HasFatalFailure()) {
            return;
        }
    }
}

}  // namespace
}  // namespace pinstrike::actors::test
