// path: cold
//
// What `run` shows while it runs: a screen drawn anew once a second, or a line a second where the
// output is no terminal. It reads published counters, so hot threads have no part in it.
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

/// The screen as lines of text, at most rows - 1 of at most `columns` characters. Rates are those
/// between the two looks. The last of `last_lines` stand below, in a quarter of the screen at most.
[[nodiscard]] std::vector<std::string> screen_text(const std::string& feed, const LiveFigures& now,
                                                   const LiveFigures& before, ScreenSize size,
                                                   const std::deque<std::string>& last_lines = {});

/// The same in one line.
[[nodiscard]] std::string plain_text(const LiveFigures& now, const LiveFigures& before);

class LiveView {
  public:
    /// `out` is drawn on if it is a terminal, else written to line by line. `last_lines`, of the
    /// log, which would tear the screen, are shown below it.
    LiveView(std::string feed, std::FILE* out, const std::deque<std::string>& last_lines);

    /// Leaves the last screen standing and the cursor below it.
    ~LiveView();

    LiveView(const LiveView&) = delete;
    LiveView& operator=(const LiveView&) = delete;

    /// About once a second.
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
