// path: cold
//
// The schemas of DBN that this program offers.
#pragma once

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

[[nodiscard]] constexpr std::optional<Schema> schema_of(std::string_view name) {
    for (std::size_t i = 0; i < schemas_count; ++i) {
        if (schema_names[i] == name) {
            return static_cast<Schema>(i);
        }
    }
    return std::nullopt;
}

}  // namespace pinstrike::feed::dbn
