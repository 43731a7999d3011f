// path: cold
//
// A random session of several lines: losses, late messages, repairs, resets, moves and wraps.
#pragma once

#include "tests/actors/book/events.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace pinstrike::actors::test {

class Session {
  public:
    static constexpr std::uint16_t lines_count = 3;
    static constexpr std::uint32_t series_count = 24;

    explicit Session(std::uint64_t seed) : random_(seed) {
        for (LineSource& line : lines_) {
            line.sequence = below(4) == 0 ? 0xFFFF'FF80U : below(1000);  // some wrap
        }
    }

    /// Adds one random event of one line. `late`: messages that were declared lost may come too.
    void step(Events& out, bool late = true) {
        happen(out, late);
        out.stamp(++time_ns_);
    }

    /// Adds the position of each line, as pollers send it.
    void mark(Events& out) {
        for (std::uint16_t number = 1; number <= lines_count; ++number) {
            out.add(feed::EventKind::line_mark, number, lines_[number - 1U].sequence);
        }
        out.stamp(++time_ns_);
    }

    /// The feed stops and starts again: some numbers of each line are missed, and what was lost
    /// before does not come any more. Adds the gaps, as a feed that went on would report them.
    void stop(Events& gaps) {
        for (std::uint16_t number = 1; number <= lines_count; ++number) {
            LineSource& line = lines_[number - 1U];
            line.lost.clear();
            if (const unsigned missed = below(4); missed != 0) {
                const std::uint32_t first = next(line);
                for (unsigned more = 1; more < missed; ++more) {
                    next(line);
                }
                gaps.gap(number, first, line.sequence);
            }
        }
        gaps.stamp(++time_ns_);
    }

    /// The last number of a line.
    std::uint32_t sequence(std::uint16_t number) const { return lines_[number - 1U].sequence; }

    feed::SeriesKey key(unsigned index) const {
        return key_of(index % 2 == 0 ? "SPY" : "QQQ", static_cast<char>('A' + index % 24), 16, 27,
                      index / 8 * 50'000'000, index % 3 == 0);
    }

    unsigned below(unsigned limit) {
        return std::uniform_int_distribution<unsigned>(0, limit - 1)(random_);
    }

  private:
    /// A message that an arbiter declared lost.
    struct Lost {
        unsigned day;
        unsigned flush;
        std::uint32_t sequence;
        unsigned flavour;  ///< what it was: 0 a flush of quotes
    };

    struct LineSource {
        std::uint32_t sequence = 0;
        unsigned day = 0;
        unsigned flush = 0;
        std::vector<Lost> lost;
    };

    void happen(Events& out, bool late) {
        const auto number = static_cast<std::uint16_t>(1 + below(lines_count));
        LineSource& line = lines_[number - 1];
        const unsigned dice = below(1000);
        if (dice < 40) {
            lose(out, number, line);
        } else if (dice < 110 && late && !line.lost.empty()) {
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
        // Mostly the newest missing message, so that gaps are also filled from their end.
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
    std::int64_t time_ns_ = 0;
    std::array<LineSource, lines_count> lines_;
};

}  // namespace pinstrike::actors::test
