// path: cold
//
// The schemas of DBN that this program offers.
#pragma once

#include "config/time_units.h"
#include "feed/dbn/records.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace pinstrike::feed::dbn {

enum class Schema : std::uint8_t {
    cmbp_1,
    cbbo_1s,
    cbbo_1m,
    tcbbo,
    trades,
    mbp_1,
    tbbo,
    ohlcv_1s,
    ohlcv_1m,
    ohlcv_1h,
    definition,
    statistics,
};

/// Their names in requests, by Schema.
inline constexpr std::array<std::string_view, 12> schema_names{
    "cmbp-1", "cbbo-1s",  "cbbo-1m",  "tcbbo",    "trades",     "mbp-1",
    "tbbo",   "ohlcv-1s", "ohlcv-1m", "ohlcv-1h", "definition", "statistics"};

inline constexpr std::size_t schemas_count = schema_names.size();

[[nodiscard]] constexpr std::string_view name_of(Schema schema) {
    return schema_names[static_cast<std::size_t>(schema)];
}

/// The number of a schema in the metadata of a file.
[[nodiscard]] constexpr std::uint16_t number_of(Schema schema) {
    constexpr std::array<std::uint16_t, schemas_count> numbers{14, 15, 16, 17, 4, 1,
                                                               3,  5,  6,  7,  9, 10};
    return numbers[static_cast<std::size_t>(schema)];
}

/// The type of the records of a schema.
[[nodiscard]] constexpr RecordType record_type_of(Schema schema) {
    constexpr std::array<RecordType, schemas_count> types{
        RecordType::cmbp_1,   RecordType::cbbo_1s,  RecordType::cbbo_1m,    RecordType::tcbbo,
        RecordType::trade,    RecordType::mbp_1,    RecordType::mbp_1,      RecordType::ohlcv_1s,
        RecordType::ohlcv_1m, RecordType::ohlcv_1h, RecordType::definition, RecordType::statistics};
    return types[static_cast<std::size_t>(schema)];
}

/// The length of the intervals of a schema; 0: it has none.
[[nodiscard]] constexpr std::int64_t interval_ns_of(Schema schema) {
    switch (schema) {
        case Schema::cbbo_1s:
        case Schema::ohlcv_1s:
            return second_ns;
        case Schema::cbbo_1m:
        case Schema::ohlcv_1m:
            return 60 * second_ns;
        case Schema::ohlcv_1h:
            return 3600 * second_ns;
        default:
            return 0;
    }
}

[[nodiscard]] constexpr std::optional<Schema> schema_of(std::string_view name) {
    for (std::size_t i = 0; i < schemas_count; ++i) {
        if (schema_names[i] == name) {
            return static_cast<Schema>(i);
        }
    }
    return std::nullopt;
}

}  // namespace pinstrike::feed::dbn
