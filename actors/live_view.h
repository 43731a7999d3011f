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

/// The screen as lines of text, at most rows - 1 of at most `columns` characters. Rates are those
/// between the two looks.
[[nodiscard]] std::vector<std::string> screen_text(const std::string& feed, const LiveFigures& now,
                                                   const LiveFigures& before, ScreenSize size);

/// The same in one line.
[[nodiscard]] std::string plain_text(const LiveFigures& now, const LiveFigures& before);

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
    LiveFigures before_;
    double drawn_s_ = 0;
};

}  // namespace pinstrike::actors
