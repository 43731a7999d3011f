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

ScreenSize size_of(std::FILE* out) {
    winsize window{};
    if (::ioctl(::fileno(out), TIOCGWINSZ, &window) != 0 || window.ws_col == 0 ||
        window.ws_row == 0) {
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

LiveView::LiveView(std::FILE* out, const std::deque<std::string>& last_lines)
    : out_(out), terminal_(::isatty(::fileno(out)) == 1), last_lines_(last_lines) {
    readings_.now = admin::views(CounterSnapshot{}, tally_, "all");
    if (terminal_) {
        std::fputs("\x1b[?25l\x1b[2J", out_);  // hides the cursor and clears the screen
    }
}

LiveView::~LiveView() {
    if (terminal_) {
        std::fputs("\x1b[?25h\n", out_);
        std::fflush(out_);
    }
}

void LiveView::draw(const CounterSnapshot& counters) {
    readings_.before = std::exchange(readings_.now, admin::views(counters, tally_, "all"));
    // fmt::print would throw, and a failing output must not stop the program.
    std::string frame;
    if (terminal_) {
        frame = "\x1b[H";
        for (const std::string& line : screen_text(readings_, size_of(out_), last_lines_)) {
            frame += line + "\x1b[K\n";
        }
        frame += "\x1b[J";
    } else {
        frame = plain_text(readings_);
    }
    std::fwrite(frame.data(), 1, frame.size(), out_);
    std::fflush(out_);
}

}  // namespace pinstrike::actors::top
