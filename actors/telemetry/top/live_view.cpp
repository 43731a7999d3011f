// path: cold
#include "actors/telemetry/top/live_view.h"

#include "actors/telemetry/admin/views.h"
#include "actors/telemetry/top/screen.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace pinstrike::actors::top {
namespace {

ScreenSize size_of(int descriptor) {
    winsize window{};
    if (::ioctl(descriptor, TIOCGWINSZ, &window) != 0 || window.ws_col == 0 || window.ws_row == 0) {
        return {};
    }
    return {window.ws_col, window.ws_row};
}

}  // namespace

std::vector<std::string> screen_text(const Readings& readings, ScreenSize size,
                                     const std::deque<std::string>& last_lines) {
    const std::size_t below = std::min(last_lines.size(), std::max<std::size_t>(size.rows / 8, 2));
    const std::size_t above = size.rows > below ? size.rows - below - 1 : 0;
    std::vector<std::string> text;
    for (const ScreenRow& row : overview(readings, above)) {
        text.push_back(row.text.substr(0, size.columns));
    }
    for (auto line = last_lines.end() - static_cast<std::ptrdiff_t>(below);
         line != last_lines.end(); ++line) {
        text.push_back(line->substr(0, size.columns));
    }
    return text;
}

LiveView::LiveView(int descriptor, const std::deque<std::string>& last_lines)
    : descriptor_(descriptor), terminal_(::isatty(descriptor) == 1), last_lines_(last_lines) {
    readings_.now = admin::views(CounterSnapshot{}, tally_, "all");
    if (terminal_) {
        (void)out_.write("\x1b[?25l\x1b[2J");  // hides the cursor and clears the screen
    }
}

LiveView::~LiveView() {
    if (terminal_) {
        constexpr int patience_ms = 100;
        (void)out_.write("\x1b[?25h\n", patience_ms);
    }
}

void LiveView::draw(const CounterSnapshot& counters) {
    readings_.before = std::exchange(readings_.now, admin::views(counters, tally_, "all"));
    // fmt::print would throw, and a failing output must not stop the program.
    std::string frame;
    if (terminal_) {
        frame = "\x1b[H";
        for (const std::string& line : screen_text(readings_, size_of(descriptor_), last_lines_)) {
            frame += line + "\x1b[K\n";
        }
        frame += "\x1b[J";
    } else {
        frame = plain_text(readings_);
    }
    constexpr int patience_ms = 20;  // a serial console accepts a frame in parts
    (void)out_.write(frame, patience_ms);
}

}  // namespace pinstrike::actors::top
