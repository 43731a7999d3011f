// path: hot
#pragma once

namespace pinstrike::feed::opra {

/// Regular data lines are 1-96, lines of the GTH session 201-204, and lines of series maps 220 and
/// its reserve 221-225 (network specification).
[[nodiscard]] constexpr bool is_published_line(unsigned number) {
    return (number >= 1 && number <= 96) || (number >= 201 && number <= 204) ||
           (number >= 220 && number <= 225);
}

/// Whether the line carries data of series. The other lines carry only series maps (network
/// specification).
[[nodiscard]] constexpr bool is_series_line(unsigned number) {
    return is_published_line(number) && number < 220;
}

/// Whether the line carries the GTH session, whose series differ from those of the regular session
/// (OPRA Block Header).
[[nodiscard]] constexpr bool is_gth_line(unsigned number) {
    return number >= 201 && number <= 204;
}

/// Whether the line sends something at least every ten seconds. Line 220 may have no line integrity
/// (network specification).
[[nodiscard]] constexpr bool has_line_integrity(unsigned number) {
    return number < 220;
}

}  // namespace pinstrike::feed::opra
