// path: cold
#include "actors/telemetry/top/screen.h"

#include "actors/telemetry/admin/view_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace pinstrike::actors::top {
namespace {

using nlohmann::json;
using Look = ScreenRow::Look;

void add_text(std::vector<ScreenRow>& screen, std::string_view text) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        screen.push_back({std::string{text.substr(0, end)}, Look::plain});
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

std::string running_text(double seconds) {
    const auto whole = static_cast<std::uint64_t>(seconds);
    return fmt::format("{:02}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

/// The first five rows of every screen. `run` has its log below and names no level.
std::vector<ScreenRow> head(const Readings& readings) {
    const json& now = readings.now;
    const std::string level = now.value("log_level", "");
    const bool all_heard = now.at("status").at("streams_not_up").empty();
    return {{fmt::format("pinstrike {}   {}   running {}{}{}", now.at("version").get<std::string>(),
                         now.at("feed").get<std::string>(),
                         running_text(now.at("running_seconds").get<double>()),
                         level.empty() ? "" : "   log level ", level),
             Look::bold},
            {rates_text(readings), Look::plain},
            {totals_text(readings), Look::plain},
            {losses_text(readings), Look::plain},
            {lines_up_text(readings), all_heard ? Look::plain : Look::wrong}};
}

Table rates_table(const Readings& readings, std::string_view view) {
    return admin::view_table(readings, view, admin::Figures::rates);
}

Table sorted(Table table, std::size_t column) {
    table.sort(column, false);
    return table;
}

/// The tables of the overview that have rows. Lines come only where there is much room.
std::vector<Table> overview_tables(const Readings& readings, std::size_t rows) {
    constexpr std::size_t rows_for_lines = 40;
    constexpr std::size_t quotes_per_second = 1;
    constexpr std::size_t fullest = 4;
    constexpr std::size_t state = 1;
    std::vector<Table> tables{rates_table(readings, "latency"), rates_table(readings, "threads"),
                              sorted(rates_table(readings, "rings"), fullest),
                              rates_table(readings, "actors"),
                              sorted(rates_table(readings, "busiest"), quotes_per_second)};
    if (rows >= rows_for_lines) {
        tables.push_back(sorted(rates_table(readings, "lines"), state));
    }
    std::erase_if(tables, [](const Table& table) { return table.rows.empty(); });
    return tables;
}

/// How many rows of each table are shown, if `rows` rows are left for all, and each table takes
/// `extra_rows` more than it shows: one row each in turn, as long as there is room.
std::vector<std::size_t> shares_of(const std::vector<Table>& tables, std::size_t rows,
                                   std::size_t extra_rows) {
    std::vector<std::size_t> shown(tables.size(), 0);
    for (bool grown = true; grown;) {
        grown = false;
        for (std::size_t i = 0; i < tables.size(); ++i) {
            const std::size_t cost = shown[i] == 0 ? extra_rows + 1 : 1;
            if (shown[i] < tables[i].rows.size() && cost <= rows) {
                ++shown[i];
                rows -= cost;
                grown = true;
            }
        }
    }
    return shown;
}

}  // namespace

std::vector<ScreenRow> overview(const Readings& readings, std::size_t rows) {
    constexpr std::size_t rows_for_spaces = 30;
    std::vector<ScreenRow> screen = head(readings);
    screen.resize(std::min(screen.size(), rows));
    const std::vector<Table> tables = overview_tables(readings, rows);
    const bool spaced = rows >= rows_for_spaces;
    const std::vector<std::size_t> shown = shares_of(tables, rows - screen.size(), spaced ? 2 : 1);
    for (std::size_t i = 0; i < tables.size(); ++i) {
        if (shown[i] != 0 && spaced) {
            screen.push_back({});
        }
        if (shown[i] != 0) {
            screen.push_back({heads_text(tables[i]), Look::head});
        }
        for (std::size_t row = 0; row < shown[i]; ++row) {
            screen.push_back({row_text(tables[i], row), Look::plain});
        }
    }
    return screen;
}

void Screen::show(Key view) {
    view_ = view;
    sort_column_ = 0;
    reversed_ = false;
    selected_.clear();
    selected_row_ = first_row_ = 0;
    detail_ = help_ = false;
}

void Screen::press(Key key) {
    const auto select = [this](std::size_t row) {
        selected_row_ = std::min(row, rows_count_ == 0 ? 0 : rows_count_ - 1);
        selected_ = selected_row_ < names_.size() ? names_[selected_row_] : "";
    };
    const auto above = [this](std::size_t rows) {
        return selected_row_ - std::min(rows, selected_row_);
    };
    if (key <= Key::overview) {
        return show(key);
    }
    switch (key) {
        case Key::sort_left:
            sort_column_ = (sort_column_ + columns_count_ - 1) % columns_count_;
            return;
        case Key::sort_right:
            sort_column_ = (sort_column_ + 1) % columns_count_;
            return;
        case Key::reverse:
            reversed_ = !reversed_;
            return;
        case Key::up:
            return select(above(1));
        case Key::down:
            return select(selected_row_ + 1);
        case Key::page_up:
            return select(above(page_rows_));
        case Key::page_down:
            return select(selected_row_ + page_rows_);
        case Key::enter:
            detail_ = view_ == Key::lines;
            return;
        case Key::back:
            detail_ = help_ = false;
            return;
        case Key::help:
            help_ = !help_;
            return;
        default:
            return;
    }
}

Table Screen::table(const Readings& readings) const {
    constexpr std::array<std::string_view, 7> views{"lines", "threads", "rings",  "actors",
                                                    "ports", "latency", "busiest"};
    return rates_table(readings, views.at(static_cast<std::size_t>(view_)));
}

std::string Screen::keys_text() const {
    return detail_ || help_ ? "Esc back   q quit"
           : view_ == Key::lines
               ? "o l c r a p t b views   < > sort   R reverse   Enter the line   h help   q quit"
               : "o l c r a p t b views   < > sort   R reverse   h help   q quit";
}

/// Keeps the selected row selected, wherever sorting moves it.
void Screen::add_table(std::vector<ScreenRow>& screen, const Readings& readings, std::size_t rows) {
    Table shown = table(readings);
    shown.sort(sort_column_, reversed_);
    columns_count_ = shown.columns.size();
    rows_count_ = shown.rows.size();
    page_rows_ = std::max<std::size_t>(rows, 2) - 1;
    names_.clear();
    for (const auto& row : shown.rows) {
        names_.push_back(row.front().text);
    }
    const auto found = std::find(names_.begin(), names_.end(), selected_);
    if (!selected_.empty() && found != names_.end() && view_ == Key::lines) {
        selected_row_ = static_cast<std::size_t>(found - names_.begin());
    }
    first_row_ = std::min(first_row_, selected_row_);
    first_row_ = std::max(first_row_ + page_rows_, selected_row_ + 1) - page_rows_;
    screen.push_back({heads_text(shown), Look::head});
    for (std::size_t i = first_row_; i < rows_count_ && i < first_row_ + page_rows_; ++i) {
        const bool wrong =
            view_ == Key::lines && std::any_of(shown.rows[i].begin() + 1, shown.rows[i].begin() + 4,
                                               [](const Cell& cell) { return cell.text != "up"; });
        screen.push_back({row_text(shown, i), i == selected_row_ ? Look::selected
                                              : wrong            ? Look::wrong
                                                                 : Look::plain});
    }
}

void Screen::add_line(std::vector<ScreenRow>& screen, const Readings& readings) const {
    const std::string& number = selected_row_ < names_.size() ? names_[selected_row_] : selected_;
    for (const json& line : readings.now.at("lines")) {
        if (line.at("line").dump() == number) {
            add_text(screen, admin::line_text(line));
        }
    }
}

void Screen::add_help(std::vector<ScreenRow>& screen) {
    add_text(screen,
             "o overview, as `run` shows it   l lines   c cores (poll and actor threads)\n"
             "r rings   a actors   p ports   t latency of each stage   b busiest series\n"
             "< >  sort by another column      R  the other way round\n"
             "arrows, PgUp, PgDn  choose a row      Enter  all counts of a line      Esc  back\n"
             "q  quit\n\n"
             "Counts are since the start, or the last `pinstrike ctl INSTANCE clear`; rates\n"
             "since the previous reading. A first: the share of messages that A delivered\n"
             "first. Skew: by how much it was earlier. Longest: the longest loop\n"
             "step that found work. Stall: preemption while the thread had no work.\n");
}

std::vector<ScreenRow> Screen::draw(const Readings& readings, std::size_t columns,
                                    std::size_t rows) {
    constexpr std::size_t frame_rows = 8;  // six rows above, one empty row, the keys below
    std::vector<ScreenRow> screen;
    if (view_ == Key::overview && !help_) {
        screen = overview(readings, std::max<std::size_t>(rows, 1) - 1);
    } else {
        screen = head(readings);
        screen.push_back({latency_text(readings), Look::plain});
        screen.push_back({"", Look::plain});
        if (help_) {
            add_help(screen);
        } else if (detail_) {
            add_line(screen, readings);
        } else {
            add_table(screen, readings, rows > frame_rows ? rows - frame_rows : 1);
        }
    }
    screen.resize(rows > 0 ? rows - 1 : 0);
    screen.push_back({keys_text(), Look::bold});
    for (ScreenRow& row : screen) {
        row.text = row.text.substr(0, columns);
    }
    return screen;
}

}  // namespace pinstrike::actors::top
