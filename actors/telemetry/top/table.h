// path: cold
//
// A table as `pinstrike top` shows it: cells know what they are sorted by.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pinstrike::actors::top {

struct Cell {
    std::string text;
    double weight = 0;  ///< what it is sorted by; where equal, the text
};

struct Column {
    std::string_view head;
    int width = 0;      ///< characters, negative: aligned to the left
    bool falls = true;  ///< sorted by it, the highest comes first
};

struct Table {
    std::vector<Column> columns;
    std::vector<std::vector<Cell>> rows;

    /// Rows whose cells are alike stay in their order.
    void sort(std::size_t column, bool reversed);
};

/// The heads, or the cells of a row, each in its column's width, a space between.
[[nodiscard]] std::string heads_text(const Table& table);
[[nodiscard]] std::string row_text(const Table& table, std::size_t row);

}  // namespace pinstrike::actors::top
