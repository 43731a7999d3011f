// path: cold
#include "actors/top/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace pinstrike::actors::top {
namespace {

/// What is too long for its column is cut: the next must not move.
std::string fitted(std::string_view text, int width) {
    const auto room = static_cast<std::size_t>(std::abs(width));
    const std::string_view cut = text.substr(0, room);
    return width < 0 ? fmt::format("{:<{}}", cut, room) : fmt::format("{:>{}}", cut, room);
}

std::string without_end(std::string text) {
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
}

}  // namespace

void Table::sort(std::size_t column, bool reversed) {
    if (column >= columns.size()) {
        return;
    }
    const bool falls = columns[column].falls != reversed;
    std::stable_sort(rows.begin(), rows.end(), [=](const auto& left, const auto& right) {
        const Cell& a = left[column];
        const Cell& b = right[column];
        if (a.weight != b.weight) {
            return falls ? a.weight > b.weight : a.weight < b.weight;
        }
        return reversed ? a.text > b.text : a.text < b.text;
    });
}

std::string heads_text(const Table& table) {
    std::string text;
    for (const Column& column : table.columns) {
        text += fitted(column.head, column.width) + ' ';
    }
    return without_end(text);
}

std::string row_text(const Table& table, std::size_t row) {
    std::string text;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        text += fitted(table.rows[row][i].text, table.columns[i].width) + ' ';
    }
    return without_end(text);
}

}  // namespace pinstrike::actors::top
