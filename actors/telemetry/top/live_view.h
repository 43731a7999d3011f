// path: cold
//
// The live display of `run`: a screen that is redrawn once a second, or one line a second if the
// output is no terminal. It only reads published counters, so hot threads do no work for it.
#pragma once

#include "actors/telemetry/live_figures.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <string>
#include <vector>

namespace pinstrike::actors {

struct ScreenSize {
    std::size_t columns = 80;
    std::size_t rows = 24;
};

/// The screen as lines of text: at most rows - 1 lines of at most `columns` characters. Rates are
/// between `before` and `now`. The latest of `last_lines` come last, in at most a quarter of the
/// screen.
[[nodiscard]] std::vector<std::string> screen_text(const std::string& feed, const LiveFigures& now,
                                                   const LiveFigures& before, ScreenSize size,
                                                   const std::deque<std::string>& last_lines = {});

/// The same in one line.
[[nodiscard]] std::string plain_text(const LiveFigures& now, const LiveFigures& before);

class LiveView {
  public:
    /// Draws on `out` if it is a terminal, else writes it line by line. `last_lines` of the log are
    /// shown below the screen, because the log would disturb it otherwise.
    LiveView(std::string feed, std::FILE* out, const std::deque<std::string>& last_lines);

    /// Leaves the last screen visible, with the cursor below it.
    ~LiveView();

    LiveView(const LiveView&) = delete;
    LiveView& operator=(const LiveView&) = delete;

    /// To be called about once a second.
    void draw(const CounterSnapshot& counters);

  private:
    void show(const LiveFigures& now);

    std::string feed_;
    std::FILE* out_;
    bool terminal_;
    const std::deque<std::string>& last_lines_;
    LiveFigures before_;
};

}  // namespace pinstrike::actors
