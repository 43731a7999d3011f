// path: cold
//
// A table of text. Its cells have a value to sort by.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pinstrike::actors::admin {

struct Cell {
    std::string text;
    double weight = 0;  ///< value to sort by; the text decides if values are equal
};

struct Column {
    std::string_view head;
    int width = 0;      ///< characters, negative: aligned to the left
    bool falls = true;  ///< sorts the highest value first
};

struct Table {
    std::vector<Column> columns;
    std::vector<std::vector<Cell>> rows;
    bool cuts = true;  ///< cuts what is too long for its column; false: it moves the next ones

    /// A stable sort.
    void sort(std::size_t column, bool reversed);
};

/// The heads or the cells of a row, each in its column's width, separated by a space.
[[nodiscard]] std::string heads_text(const Table& table);
[[nodiscard]] std::string row_text(const Table& table, std::size_t row);

}  // namespace pinstrike::actors::admin
