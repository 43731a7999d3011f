// path: cold
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace pinstrike::feed::opra::traffic {

/// Decimals of a denominator code (OPRA Denominator Code).
inline unsigned places(char code) {
    return code == 'I' ? 0 : static_cast<unsigned>(code - 'A' + 1);
}

/// The value with exactly as many decimals as the code says: -5 under B is "-0.05".
inline std::string decimal(std::int64_t value, char code) {
    const bool negative = value < 0;
    const std::uint64_t magnitude =
        negative ? ~static_cast<std::uint64_t>(value) + 1 : static_cast<std::uint64_t>(value);
    std::string digits = std::to_string(magnitude);
    const auto decimals = static_cast<std::ptrdiff_t>(places(code));
    const auto least = static_cast<std::size_t>(decimals) + 1;  // a digit before the point
    if (decimals != 0) {
        if (digits.size() < least) {
            digits.insert(0, least - digits.size(), '0');
        }
        digits.insert(digits.end() - decimals, '.');
    }
    if (negative) {
        digits.insert(digits.begin(), '-');
    }
    return digits;
}

/// The value without trailing zeros and trailing point: "133", "0.61", "0".
inline std::string normalised(std::int64_t value, char code) {
    std::string text = decimal(value, code);
    if (text.find('.') != std::string::npos) {
        text.erase(text.find_last_not_of('0') + 1);
        if (text.back() == '.') {
            text.pop_back();
        }
    }
    return text == "-0" ? "0" : text;
}

}  // namespace pinstrike::feed::opra::traffic
