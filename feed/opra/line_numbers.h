// path: hot
#pragma once

namespace pinstrike::feed::opra {

/// Regular data lines 1-96, series maps 220 and its reserve 221-225, GTH session 201-204 (network
/// specification).
[[nodiscard]] constexpr bool is_published_line(unsigned number) {
    return (number >= 1 && number <= 96) || (number >= 201 && number <= 204) ||
           (number >= 220 && number <= 225);
}

/// Whether series come on the line: on the others come maps of series alone (network
/// specification).
[[nodiscard]] constexpr bool is_series_line(unsigned number) {
    return is_published_line(number) && number < 220;
}

/// Whether the line carries the GTH session, whose series are their own (OPRA Block Header).
[[nodiscard]] constexpr bool is_gth_line(unsigned number) {
    return number >= 201 && number <= 204;
}

/// Whether something comes at least every ten seconds. Line 220 may have no line integrity (network
/// specification).
[[nodiscard]] constexpr bool has_line_integrity(unsigned number) {
    return number < 220;
}

}  // namespace pinstrike::feed::opra
