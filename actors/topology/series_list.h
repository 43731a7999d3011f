// path: cold
//
// The series that the day's file announces (config key series_map), dealt out to the cores as the
// router deals out their messages. A core tells its actors of its own before the first message.
#pragma once

#include "actors/topology/feed_config.h"
#include "config/problem.h"
#include "config/rows.h"
#include "feed/event/event.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// clang-format off
#define PINSTRIKE_SERIES_ROWS(ROW)                                                        \
    ROW(announced, rows, "series that come on the feed's lines: the actors are told")     \
    ROW(repeated, rows, "series that another row names too: the lowest line counts")      \
    ROW(elsewhere, rows, "series that come on lines the feed does not take")              \
    ROW(test, rows, "reserved test symbols, which the feed keeps from the cores")         \
    ROW(spoilt, rows, "not to be understood as a series and its line")

// clang-format on

namespace pinstrike::actors {

PINSTRIKE_ROWS(SeriesRow, PINSTRIKE_SERIES_ROWS)

struct SeriesList {
    std::string file;  ///< the one that was read; empty: the config names none
    std::array<std::uint64_t, SeriesRow_count> rows{};  ///< by SeriesRow
    Problems malformed;                                 ///< the first few, with their places
    std::vector<std::vector<feed::SeriesMap>> by_core;  ///< in the order of the config's cores
    std::vector<std::size_t> counts;                    ///< of by_core

    [[nodiscard]] std::uint64_t count(SeriesRow row) const {
        return rows[static_cast<std::size_t>(row)];
    }
};

/// Reads the file, or the newest one of the folder. A Problem at the key's place where that cannot
/// be, where no row is a series, and where the actors have no memory for all.
[[nodiscard]] SeriesList read_series_list(const FeedConfig& config, Problems& problems);

/// For people: how many, on which core, against what capacity, and what was wrong with the file.
[[nodiscard]] std::string to_text(const SeriesList& list, const FeedConfig& config);

}  // namespace pinstrike::actors
