// path: cold
//
// The nightly file that maps series to lines, OPRASymbolMapping_YYYYMMDD_HHMMSS.csv. Each row has
// one series: symbol, expiration block, reserved, strike with explicit decimal point, line,
// reserved. The expiration block is a letter, then day and year - 2000 in two digits each: "A1924"
// is a call of 19 January 2024. A first row that begins with "symbol" is a heading. A row with a
// GTH line names a series of the GTH session.
//
// A file has about two million rows, so each row is passed on when it is read, and none is kept.
#pragma once

#include "config/problem.h"
#include "feed/event/mapping_rows.h"

#include <optional>
#include <string>
#include <string_view>

namespace pinstrike::feed::opra {

[[nodiscard]] MappingRows parse_series_mapping(std::string_view text, const std::string& file,
                                               const OnSeries& on_series);

/// The same for a file. Nothing, and a Problem is added: the file cannot be read to its end.
[[nodiscard]] std::optional<MappingRows> read_series_mapping(const std::string& path,
                                                             const OnSeries& on_series,
                                                             Problems& problems);

/// The path of the mapping file in `folder` with the newest time in its name; empty: there is none.
[[nodiscard]] std::string newest_series_mapping(const std::string& folder);

}  // namespace pinstrike::feed::opra
