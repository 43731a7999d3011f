// path: cold
//
// The screens of `pinstrike top` and `run` for two readings, and the keys of `top`. The terminal
// code is in actors/command/top.cpp, so that a test can press keys and read screens.
#pragma once

#include "actors/telemetry/admin/table.h"
#include "actors/telemetry/top/feed_text.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pinstrike::actors::top {

using admin::Cell;
using admin::Table;

enum class Key : std::uint8_t {
    lines,  // the first of the views
    cores,
    rings,
    actors,
    ports,
    latency,
    busiest,
    overview,  // the last of the views
    sort_left,
    sort_right,
    reverse,
    up,
    down,
    page_up,
    page_down,
    enter,
    back,
    help,
};

/// A row of the screen.
struct ScreenRow {
    enum class Look : std::uint8_t { plain, bold, head, selected, wrong };

    std::string text;
    Look look = Look::plain;
};

/// What `run` shows, and a view of `top`: the feed's sums and the first rows of the tables, in at
/// most `rows` rows. A table that is cut begins with what matters most.
[[nodiscard]] std::vector<ScreenRow> overview(const Readings& readings, std::size_t rows);

class Screen {
  public:
    void press(Key key);

    /// At most `rows` rows of at most `columns` characters.
    [[nodiscard]] std::vector<ScreenRow> draw(const Readings& readings, std::size_t columns,
                                              std::size_t rows);

  private:
    void show(Key view);
    [[nodiscard]] Table table(const Readings& readings) const;
    [[nodiscard]] std::string keys_text() const;
    void add_table(std::vector<ScreenRow>& screen, const Readings& readings, std::size_t rows);
    void add_line(std::vector<ScreenRow>& screen, const Readings& readings) const;
    static void add_help(std::vector<ScreenRow>& screen);

    Key view_ = Key::lines;
    std::size_t sort_column_ = 0;
    bool reversed_ = false;
    std::string selected_;  ///< first cell of the row; empty: the first row
    std::size_t selected_row_ = 0;
    std::size_t first_row_ = 0;
    std::size_t columns_count_ = 1;  ///< of the last table
    std::size_t rows_count_ = 0;
    std::size_t page_rows_ = 1;
    std::vector<std::string> names_;  ///< first cells of the last table
    bool detail_ = false;
    bool help_ = false;
};

}  // namespace pinstrike::actors::top
