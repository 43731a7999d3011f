// path: cold
//
// The columns of CSV, by schema: names and order are those of the published clients' tables.
#pragma once

#include "feed/dbn/schema.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace pinstrike::actors {

/// How the bytes of a field become text. An undefined value is empty.
enum class CsvValue : std::uint8_t {
    time,                ///< ISO 8601 in UTC with nanoseconds
    price,               ///< an exact decimal
    number,              ///< unsigned
    number_or_none,      ///< unsigned; undefined: all bits set
    difference,          ///< signed
    difference_or_none,  ///< signed; undefined: the highest value
    letter,              ///< undefined: a space
    text,                ///< ends at a zero
};

struct CsvColumn {
    std::string_view name;
    CsvValue value;
    std::uint16_t at;     ///< offset in the record
    std::uint16_t bytes;  ///< of the field
};

/// All columns but the last, which has the symbol.
[[nodiscard]] std::span<const CsvColumn> csv_columns(feed::dbn::Schema schema);

}  // namespace pinstrike::actors
