// path: cold
#include "feed/event/decimal.h"

#include <fmt/format.h>

#include <string_view>

namespace pinstrike::feed {

void append_decimal(std::string& out, std::int64_t value, unsigned decimals) {
    const std::uint64_t magnitude =
        value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
    const fmt::format_int digits{magnitude};
    std::string_view text{digits.data(), digits.size()};
    if (value < 0) {
        out += '-';
    }
    if (decimals == 0) {
        out += text;
        return;
    }
    if (text.size() <= decimals) {
        out += "0.";
        out.append(decimals - text.size(), '0');
        out += text;
        return;
    }
    out += text.substr(0, text.size() - decimals);
    out += '.';
    out += text.substr(text.size() - decimals);
}

std::string decimal_text(std::int64_t value, unsigned decimals) {
    std::string text;
    append_decimal(text, value, decimals);
    return text;
}

std::string normalised_decimal(std::int64_t price_e8) {
    std::string text = decimal_text(price_e8, 8);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') {
        text.pop_back();
    }
    return text;
}

}  // namespace pinstrike::feed
