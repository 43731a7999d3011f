// path: cold
//
// The live display of `run`: the overview of `pinstrike top`, redrawn once a second, or one line a
// second if the output is no terminal. It only reads published counters, so hot threads do no work
// for it.
#pragma once

#include "actors/telemetry/admin/tally.h"
#include "actors/telemetry/counter_snapshot.h"
#include "actors/telemetry/log/line_writer.h"
#include "actors/telemetry/top/feed_text.h"

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

namespace pinstrike::actors::top {

struct ScreenSize {
    std::size_t columns = 80;
    std::size_t rows = 24;
};

/// The screen as lines of text: at most rows - 1 lines of at most `columns` characters. The latest
/// of `last_lines` come last, in at most a quarter of the screen.
[[nodiscard]] std::vector<std::string> screen_text(const Readings& readings, ScreenSize size,
                                                   const std::deque<std::string>& last_lines = {});

class LiveView {
  public:
    /// Draws on the descriptor if it is a terminal, else writes it line by line. What it does not
    /// accept at once is lost, so a stopped terminal stops nothing else. `last_lines` of the log
    /// are shown below the screen, because the log would disturb it otherwise.
    LiveView(int descriptor, const std::deque<std::string>& last_lines);

    /// Leaves the last screen visible, with the cursor below it.
    ~LiveView();

    LiveView(const LiveView&) = delete;
    LiveView& operator=(const LiveView&) = delete;

    /// To be called about once a second. Counts are since the start, rates and times since the last
    /// call.
    void draw(const CounterSnapshot& counters);

  private:
    int descriptor_;
    bool terminal_;
    LineWriter out_{descriptor_};
    const std::deque<std::string>& last_lines_;
    admin::Tally tally_{true};
    Readings readings_;
};

}  // namespace pinstrike::actors::top
