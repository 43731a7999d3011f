// path: cold
#include "actors/telemetry/admin/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace pinstrike::actors::admin {
namespace {

/// Cuts text that is too long, so that the next column stays in place.
std::string fitted(std::string_view text, int width, bool cuts = true) {
    const auto columns = static_cast<std::size_t>(std::abs(width));
    const std::size_t room = cuts ? columns : std::max(columns, text.size());
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
    const auto before = [=](const std::vector<Cell>& left, const std::vector<Cell>& right) {
        const Cell& a = left[column];
        const Cell& b = right[column];
        if (a.weight != b.weight) {
            return falls ? a.weight > b.weight : a.weight < b.weight;
        }
        return reversed ? a.text > b.text : a.text < b.text;
    };
    // Inserts each row behind its equals. std::stable_sort would use a temporary buffer that clang
    // calls deprecated.
    for (auto row = rows.begin(); row != rows.end(); ++row) {
        std::rotate(std::upper_bound(rows.begin(), row, *row, before), row, std::next(row));
    }
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
        text += fitted(table.rows[row][i].text, table.columns[i].width, table.cuts) + ' ';
    }
    return without_end(text);
}

}  // namespace pinstrike::actors::admin
