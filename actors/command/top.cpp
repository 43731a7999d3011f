// path: cold
//
// `pinstrike top`: shows a running instance on a terminal, from its admin socket. If standard
// output is not a terminal, it prints lines.
#include "actors/command/command.h"
#include "actors/command/duration_option.h"
#include "actors/telemetry/admin/admin_client.h"
#include "actors/telemetry/top/feed_text.h"
#include "actors/telemetry/top/screen.h"
#include "config/time_units.h"
#include "config/units.h"

#include <ncurses.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <clocale>
#include <cstdio>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

namespace pinstrike::command {
namespace {

using actors::top::Key;
using actors::top::plain_text;
using actors::top::Readings;
using actors::top::ScreenRow;
using nlohmann::json;

struct TopOptions {
    std::string instance;
    std::string interval = "1s";
    std::uint64_t count = 0;  ///< number of readings to show; 0: until the instance ends
};

std::optional<Key> key_of(int pressed) {
    constexpr int escape = 27;
    static const std::map<int, Key> keys{{'l', Key::lines},      {'c', Key::cores},
                                         {'r', Key::rings},      {'a', Key::actors},
                                         {'p', Key::ports},      {'t', Key::latency},
                                         {'b', Key::busiest},    {'o', Key::overview},
                                         {'<', Key::sort_left},  {KEY_LEFT, Key::sort_left},
                                         {'>', Key::sort_right}, {KEY_RIGHT, Key::sort_right},
                                         {'R', Key::reverse},    {'k', Key::up},
                                         {KEY_UP, Key::up},      {'j', Key::down},
                                         {KEY_DOWN, Key::down},  {KEY_PPAGE, Key::page_up},
                                         {' ', Key::page_down},  {KEY_NPAGE, Key::page_down},
                                         {'\n', Key::enter},     {KEY_ENTER, Key::enter},
                                         {escape, Key::back},    {KEY_BACKSPACE, Key::back},
                                         {'h', Key::help},       {'?', Key::help}};
    const auto found = keys.find(pressed);
    return found == keys.end() ? std::nullopt : std::optional{found->second};
}

/// Uses the terminal as a screen. The destructor restores the terminal.
class Terminal {
  public:
    Terminal() {
        std::setlocale(LC_CTYPE, "");
        ::initscr();
        ::cbreak();
        ::noecho();
        ::keypad(stdscr, TRUE);
        ::set_escdelay(25);
        ::curs_set(0);
        if (::has_colors() == TRUE) {
            ::start_color();
            ::use_default_colors();
            ::init_pair(wrong_pair, COLOR_RED, -1);
        }
    }

    ~Terminal() { ::endwin(); }

    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;

    static void show(const std::vector<ScreenRow>& rows) {
        ::erase();
        int at = 0;
        for (const ScreenRow& row : rows) {
            const attr_t look = look_of(row.look);
            ::attr_on(look, nullptr);
            ::mvaddnstr(at++, 0, row.text.c_str(), static_cast<int>(row.text.size()));
            ::attr_off(look, nullptr);
        }
        ::refresh();
    }

  private:
    static constexpr short wrong_pair = 1;

    static attr_t look_of(ScreenRow::Look look) {
        // In the order of Look.
        const std::array<attr_t, 5> attributes{A_NORMAL, A_BOLD, A_BOLD | A_UNDERLINE, A_REVERSE,
                                               static_cast<attr_t>(COLOR_PAIR(wrong_pair))};
        return attributes[static_cast<std::size_t>(look)];
    }
};

class Top {
  public:
    explicit Top(const TopOptions& options)
        : options_(options), interval_ns_(*parse_duration_ns(options.interval)) {}

    void run() {
        look();
        const bool shown = ::isatty(STDOUT_FILENO) == 1 && ::isatty(STDIN_FILENO) == 1;
        shown ? on_terminal() : on_lines();
    }

  private:
    /// Throws if the instance does not answer, because the terminal must be restored before the
    /// reason is printed.
    void look() {
        std::string complaint;
        auto reading = actors::admin::ask_once(options_.instance, {{"ask", "all"}}, complaint);
        if (!reading) {
            throw std::runtime_error{complaint};
        }
        if (!reading->contains("status")) {
            throw std::runtime_error{options_.instance + ": what answers there is no pinstrike"};
        }
        // If another process answers now, the reading before belongs to its predecessor and is
        // dropped.
        const bool same =
            !readings_.now.is_null() && readings_.now.at("process") == reading->at("process");
        readings_.before = same ? std::move(readings_.now) : json();
        readings_.now = std::move(*reading);
    }

    [[nodiscard]] bool done(std::uint64_t shown) const {
        return options_.count != 0 && shown >= options_.count;
    }

    /// Until the user quits or all readings were shown.
    void on_terminal() {
        const Terminal terminal;
        auto next = std::chrono::steady_clock::now();
        std::uint64_t shown = 0;
        while (!done(shown)) {
            const auto now = std::chrono::steady_clock::now();
            if (now >= next) {
                next = now + std::chrono::nanoseconds(interval_ns_);
                ++shown;
                look();
            }
            Terminal::show(screen_.draw(readings_, static_cast<std::size_t>(COLS),
                                        static_cast<std::size_t>(LINES)));
            const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(
                next - std::chrono::steady_clock::now());
            ::timeout(static_cast<int>(std::max<std::int64_t>(left.count() / ms_ns, 1)));
            const int pressed = ::getch();
            if (pressed == 'q') {
                return;
            }
            if (const auto key = key_of(pressed)) {
                screen_.press(*key);
            }
        }
    }

    void on_lines() {
        for (std::uint64_t shown = 0; !done(shown); ++shown) {
            std::this_thread::sleep_for(std::chrono::nanoseconds(interval_ns_));
            look();
            if (std::fputs(plain_text(readings_).c_str(), stdout) < 0 || std::fflush(stdout) != 0) {
                throw std::runtime_error{"standard output cannot be written"};
            }
        }
    }

    const TopOptions& options_;
    std::int64_t interval_ns_;
    Readings readings_;
    actors::top::Screen screen_;
};

Exit top(const TopOptions& options) {
    Top{options}.run();
    return Exit::ok;
}

}  // namespace

void add_top(CLI::App& app, Outcome& outcome) {
    const auto [command, options] =
        add_command(app, outcome, "top", "Watch a running instance, as `top` shows a host", top);
    command->footer(
        "INSTANCE as of `pinstrike ctl`. Asks the admin socket once an interval; hot threads have\n"
        "no part in it. On a terminal: feed, lines, cores, rings, actors, ports, latency, busiest\n"
        "series, or an overview as `run` shows it; keys choose and sort (h says which). Elsewhere "
        "a\n"
        "line an interval.\n\n"
        "Exit status: 0 left by q or after --count, 1 nobody answers (any more), 2 wrong use.\n\n"
        "Examples:\n"
        "  pinstrike top opra\n"
        "  pinstrike top opra --interval 5s\n"
        "  pinstrike top opra --count 10 >seconds.txt");
    command->add_option("INSTANCE", options->instance, "Name of the service, its config, or a path")
        ->required();
    command->add_option("--interval", options->interval, "Between two looks")
        ->check(is_duration)
        ->capture_default_str();
    command->add_option("--count", options->count, "End after so many looks (default: never)");
}

}  // namespace pinstrike::command
