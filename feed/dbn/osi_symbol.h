// path: cold
//
// OSI symbols: root in 6 characters, expiration as YYMMDD, C or P, and the strike in thousandths in
// 8 digits, as "AAPL  250221C00250000".
//
// A strike that is no multiple of 0.001 or above 99,999.999 has no OSI symbol. Such a series is
// named by the first 13 characters and its strike as a decimal number with a point, as
// "XYZ   250221C0.0005" or "XYZ   250221C100000.0".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pinstrike::feed::dbn {

/// A series without its session, because both sessions of a series have one symbol.
struct SeriesName {
    std::string root;              ///< 1 to 6 characters
    std::uint32_t expiration = 0;  ///< as 20250221
    char right = 'C';              ///< 'C' or 'P'
    std::int64_t strike_e8 = 0;    ///< in units of 1e-8

    friend bool operator==(const SeriesName&, const SeriesName&) = default;
};

[[nodiscard]] std::string osi_symbol(const SeriesName& name);

/// nullopt: the text is no symbol of osi_symbol().
[[nodiscard]] std::optional<SeriesName> parse_osi_symbol(std::string_view text);

}  // namespace pinstrike::feed::dbn
