// path: cold
//
// The nightly list of series and the lines they come on, OPRASymbolMapping_YYYYMMDD_HHMMSS.csv.
// One row a series: symbol, expiration block, reserved, strike with explicit decimal
// point, line, reserved. The expiration block is read as its letter, then day and year - 2000 in
// two digits each: "A1924" is a call of 19 January 2024. A first row that begins with "symbol" is a
// heading. A row of a GTH line names a series of that session.
//
// A file has some two million rows, so they are handed on as they are read, and none is kept.
#pragma once

#include "config/problem.h"
#include "feed/event/mapping_rows.h"

#include <optional>
#include <string>
#include <string_view>

namespace pinstrike::feed::opra {

[[nodiscard]] MappingRows parse_series_mapping(std::string_view text, const std::string& file,
                                               const TakeSeries& take);

/// The same of a file; nothing, and a Problem, where it cannot be read to its end.
[[nodiscard]] std::optional<MappingRows> read_series_mapping(const std::string& path,
                                                             const TakeSeries& take,
                                                             Problems& problems);

/// The mapping file of a folder with the newest time in its name; empty where there is none.
[[nodiscard]] std::string newest_series_mapping(const std::string& folder);

}  // namespace pinstrike::feed::opra
