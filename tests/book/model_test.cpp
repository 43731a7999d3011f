// path: cold
//
// Random sessions of several lines, with losses, late messages, repairs, resets, moves and wraps,
// through the book and through the model.
#include "tests/book/model.h"

#include "actors/book/book_json.h"
#include "tests/book/events.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace pinstrike::actors::test {
namespace {

constexpr std::uint16_t lines_count = 3;
constexpr std::uint32_t series_count = 24;

/// A message that an arbiter declared lost.
struct Lost {
    unsigned day;
    unsigned flush;
    std::uint32_t sequence;
    unsigned flavour;  ///< what it was: 0 a flush of quotes
};

class Session {
  public:
    explicit Session(std::uint64_t seed) : random_(seed) {
        for (LineSource& line : lines_) {
            line.sequence = below(4) == 0 ? 0xFFFF'FF80U : below(1000);  // some wrap round
        }
    }

    /// One thing that happens on one line.
    void step(Events& out) {
        const auto number = static_cast<std::uint16_t>(1 + below(lines_count));
        LineSource& line = lines_[number - 1];
        const unsigned dice = below(1000);
        if (dice < 40) {
            lose(out, number, line);
        } else if (dice < 110 && !line.lost.empty()) {
            come_late(out, number, line);
        } else if (dice < 114) {
            out.control(number, 0, feed::Forget::day);
            ++line.day;
            ++line.flush;
            line.sequence = 0;
        } else if (dice < 120) {
            out.control(number, next(line), feed::Forget::quotes);
            ++line.flush;
        } else if (dice < 124) {
            out.control(number, 0, feed::Forget::quotes);
            ++line.flush;
            line.sequence = 0;
        } else if (dice < 130) {
            out.gap(number, line.sequence, line.sequence, feed::GapCause::ring_full);
        } else {
            message(out, number, next(line), 1 + below(1000), 0);
        }
    }

    feed::SeriesKey key(unsigned index) const {
        return key_of(index % 2 == 0 ? "SPY" : "QQQ", static_cast<char>('A' + index % 24), 16, 27,
                      index / 8 * 50'000'000, index % 3 == 0);
    }

    unsigned below(unsigned limit) {
        return std::uniform_int_distribution<unsigned>(0, limit - 1)(random_);
    }

  private:
    struct LineSource {
        std::uint32_t sequence = 0;
        unsigned day = 0;
        unsigned flush = 0;
        std::vector<Lost> lost;
    };

    static std::uint32_t next(LineSource& line) {
        line.sequence = line.sequence == 0xFFFF'FFFFU ? 1 : line.sequence + 1;
        return line.sequence;
    }

    void lose(Events& out, std::uint16_t number, LineSource& line) {
        const std::uint32_t first = next(line);
        const unsigned more = line.sequence > 0xFFFF'0000U ? 0 : below(4);
        line.lost.push_back({line.day, line.flush, first, below(30)});
        for (unsigned i = 0; i < more; ++i) {
            line.lost.push_back({line.day, line.flush, next(line), below(30)});
        }
        out.gap(number, first, line.sequence,
                below(2) == 0 ? feed::GapCause::line : feed::GapCause::undecodable);
    }

    void come_late(Events& out, std::uint16_t number, LineSource& line) {
        // Mostly the newest of what is missing, so that gaps close from behind as well.
        const auto count = static_cast<unsigned>(line.lost.size());
        const unsigned index = below(2) == 0 ? count - 1 : below(count);
        const Lost found = line.lost[index];
        line.lost.erase(line.lost.begin() + index);
        std::uint8_t flags = feed::flag_late;
        if (found.flush != line.flush) {
            flags |= feed::flag_before_flush;
        }
        if (found.day != line.day) {
            flags |= feed::flag_before_day;
        }
        if (found.flavour == 0) {
            out.control(number, found.sequence, feed::Forget::quotes, flags);
        } else {
            message(out, number, found.sequence, 1 + below(1000), flags);
        }
        if (found.flush == line.flush) {
            out.gap(number, found.sequence, found.sequence, feed::GapCause::repaired);
        }
    }

    void message(Events& out, std::uint16_t number, std::uint32_t sequence, unsigned dice,
                 std::uint8_t flags) {
        // A series has a home line; now and then it moves.
        unsigned index = below(series_count);
        if (below(20) != 0) {
            index = index / lines_count * lines_count + number - 1;
        }
        const feed::SeriesKey series = key(index);
        if (dice < 650) {
            const auto price = [this] { return static_cast<std::int32_t>(below(2000)) - 5; };
            out.quote(series, number, sequence,
                      {"ABCDEFGHIJKLMNOP " [below(17)],
                       price(),
                       below(100),
                       price(),
                       below(100),
                       participant(),
                       code(),
                       { price(), below(9), participant(), code() },
                       {price(), below(9), participant(), code()}},
                      flags);
        } else if (dice < 900) {
            constexpr const char* types = "IIIIIHFBuvACEGaS";
            out.trade(series, number, sequence, types[below(16)],
                      static_cast<std::int32_t>(below(3000)), below(20), flags, code());
        } else if (dice < 950) {
            out.open_interest(series, number, sequence, below(10'000), flags);
        } else if (dice < 975) {
            out.end_of_day(series, number, sequence, flags);
        } else {
            out.series_map(series, number, sequence, flags);
        }
    }

    char participant() { return static_cast<char>('A' + below(26)); }

    char code() { return static_cast<char>('A' + below(9)); }

    std::mt19937_64 random_;
    std::array<LineSource, lines_count> lines_;
};

void compare(const Session& session, const Book& book, const Model& model) {
    for (unsigned index = 0; index < series_count; ++index) {
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
    Book book(BookConfig{.series_capacity = 64, .venue_quotes = seed % 2 == 0}, 1);
    book.on_start({});
    if (seed % 3 != 0) {  // announcements must change nothing of what is said
        Events announced;
        for (unsigned index = 0; index < series_count; index += seed % 2 == 0 ? 1 : 2) {
            const auto line = static_cast<std::uint16_t>(1 + index % lines_count);
            announced.series_map(session.key(index), line, 0, feed::flag_from_file);
        }
        announced.play(book);
    }
    Model model;
    for (int batch = 0; batch < 60; ++batch) {
        Events events;
        const unsigned steps = session.below(90);
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
