// path: cold
#pragma once

#include <cstdint>
#include <string>

namespace pinstrike::feed {

/// Appends value / 10^decimals with exactly `decimals` decimals: 1330 and 1 gives "133.0", -5 and 2
/// gives "-0.05", 200 and 0 gives "200". `decimals` is at most 18.
void append_decimal(std::string& out, std::int64_t value, unsigned decimals);

[[nodiscard]] std::string decimal_text(std::int64_t value, unsigned decimals);

/// A price in units of 1e-8 as a decimal without trailing zeros: "133", "0.61", "-0.05".
[[nodiscard]] std::string normalised_decimal(std::int64_t price_e8);

}  // namespace pinstrike::feed
