// path: cold
//
// The nightly list of series and the lines they come on, OPRASymbolMapping_YYYYMMDD_HHMMSS.csv
// (spec f). One row a series: symbol, expiration block, reserved, strike with explicit decimal
// point, line, reserved. The expiration block is read as its letter, then day and year - 2000 in
// two digits each: "A1924" is a call of 19 January 2024. A first row that begins with "symbol" is a
// heading.
#pragma once

#include "config/problem.h"
#include "feed/series_key.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pinstrike::feed::opra {

/// A regular series and the line that it comes on for the day.
struct MappedSeries {
    SeriesKey series;
    std::uint16_t line = 0;

    friend bool operator==(const MappedSeries&, const MappedSeries&) = default;
};

/// All good rows of `text`; each bad one is a problem at `file`:row.
[[nodiscard]] std::vector<MappedSeries> parse_series_mapping(std::string_view text,
                                                             const std::string& file,
                                                             Problems& problems);

/// The same of a file, or a problem where it cannot be read.
[[nodiscard]] std::vector<MappedSeries> read_series_mapping(const std::string& path,
                                                            Problems& problems);

/// The mapping file of a folder with the newest time in its name; empty where there is none.
[[nodiscard]] std::string newest_series_mapping(const std::string& folder);

}  // namespace pinstrike::feed::opra
