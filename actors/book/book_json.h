// path: cold
#pragma once

#include "actors/book/book.h"
#include "config/problem.h"
#include "feed/event/json_writer.h"

#include <span>
#include <string>

namespace pinstrike::actors {

/// Adds the members of a series to an object of canonical JSON.
void add_series(feed::JsonWriter& json, const SeriesState& state);

/// One series as one line of canonical JSON, without the newline.
std::string series_json(const SeriesState& state);

/// Writes the state of all books, one JSON object per line, sorted by symbol, expiration, right,
/// strike (as a number), and regular session before GTH. The books must have stopped. A failed
/// write adds a Problem.
void write_books(std::span<const Book* const> books, const std::string& path, Problems& problems);

}  // namespace pinstrike::actors
