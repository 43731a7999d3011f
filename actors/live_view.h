// path: cold
//
// What `run` shows while it runs: a screen drawn anew once a second, or a line a second where the
// output is no terminal. It reads published counters, so hot threads have no part in it.
#pragma once

#include "actors/appliance.h"
#include "actors/live_figures.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace pinstrike::actors {

struct ScreenSize {
    std::size_t columns = 80;
    std::size_t rows = 24;
};

/// Which lines are up: a line or stream is down after eleven seconds without a packet, since line
/// integrity comes at least every ten.
class LineWatch {
  public:
    struct Up {
        std::size_t lines = 0;
        std::size_t a = 0;
        std::size_t b = 0;
    };

    Up update(const LiveFigures& figures);

  private:
    static constexpr double silence_s = 11;

    struct Stream {
        std::uint64_t packets = 0;
        double changed_s = -silence_s;

        bool up(std::uint64_t packets_now, double now_s);
    };

    std::vector<Stream> streams_;  ///< A and B of each line
};

/// The screen as lines of text, at most rows - 1 of at most `columns` characters. Rates are those
/// between the two looks.
[[nodiscard]] std::vector<std::string> screen_text(const std::string& feed, const LiveFigures& now,
                                                   const LiveFigures& before, LineWatch::Up up,
                                                   ScreenSize size);

/// The same in one line.
[[nodiscard]] std::string plain_text(const LiveFigures& now, const LiveFigures& before,
                                     LineWatch::Up up);

class LiveView {
  public:
    /// `out` is drawn on if it is a terminal, else written to line by line.
    LiveView(Appliance& appliance, std::FILE* out);

    /// Leaves the last screen standing and the cursor below it.
    ~LiveView();

    LiveView(const LiveView&) = delete;
    LiveView& operator=(const LiveView&) = delete;

    /// Call often: draws when a second has passed.
    void step();

  private:
    void draw(const LiveFigures& now);

    Appliance& appliance_;
    std::FILE* out_;
    bool terminal_;
    LineWatch watch_;
    LiveFigures before_;
    double drawn_s_ = 0;
};

}  // namespace pinstrike::actors
