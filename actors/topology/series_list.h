// path: cold
//
// The series of the day's series map (config key series_map), split by core as the router splits
// messages. Each core announces its series to its actors before the first message.
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
#define PINSTRIKE_SERIES_ROWS(ROW) \
    ROW(announced, rows, "series on the feed's lines: announced to the actors") \
    ROW(repeated, rows, "series that another row names too: the lowest line counts") \
    ROW(elsewhere, rows, "series on lines that the feed does not take") \
    ROW(test, rows, "reserved test symbols, which the feed does not pass to the cores") \
    ROW(malformed, rows, "not readable as a series and its line")

// clang-format on

namespace pinstrike::actors {

PINSTRIKE_ROWS(SeriesRow, PINSTRIKE_SERIES_ROWS)

struct SeriesList {
    std::string file;  ///< the file that was read; empty: the config names none
    std::array<std::uint64_t, SeriesRow_count> rows{};  ///< counts by SeriesRow
    Problems malformed;  ///< the first few malformed rows, with their places
    std::vector<std::vector<feed::SeriesMap>>
        by_core;                          ///< series by core, in the order of the config
    std::vector<std::size_t> counts;      ///< sizes of by_core
    std::vector<feed::SeriesKey> listed;  ///< the whole list in the order of ids, if it has any

    [[nodiscard]] std::uint64_t count(SeriesRow row) const {
        return rows[static_cast<std::size_t>(row)];
    }
};

/// Reads the file, or the newest file of the folder. Adds a Problem at the key's place if the file
/// cannot be read, if no row is a series, or if the actors lack memory for all series.
[[nodiscard]] SeriesList read_series_list(const FeedConfig& config, Problems& problems);

/// A text for people: how many series each core has, its capacity, and the errors in the file.
[[nodiscard]] std::string to_text(const SeriesList& list, const FeedConfig& config);

}  // namespace pinstrike::actors
