// path: cold
#include "feed/dbn/osi_symbol.h"

#include "config/units.h"

#include <fmt/format.h>

namespace pinstrike::feed::dbn {
namespace {

constexpr std::size_t root_bytes = 6;
constexpr std::size_t strike_at = 13;  // behind root, date and right
constexpr std::size_t osi_bytes = 21;
constexpr std::int64_t unit_e8 = 100'000'000;
constexpr std::int64_t thousandth_e8 = unit_e8 / 1000;
constexpr std::int64_t osi_strikes = 100'000'000;  // 8 digits
constexpr std::uint32_t century = 2000'00'00;

std::optional<std::int64_t> number_of(std::string_view digits) {
    return digits.starts_with('-') ? std::nullopt : parse_integer(digits);
}

/// "250.5" in units of 1e-8.
std::optional<std::int64_t> decimal_of(std::string_view text) {
    const std::size_t point = text.find('.');
    if (point == std::string_view::npos || text.size() - point > 9) {
        return std::nullopt;
    }
    std::string fraction{text.substr(point + 1)};
    fraction.resize(8, '0');
    const auto whole = number_of(text.substr(0, point));
    const auto part = number_of(fraction);
    if (!whole || !part || *whole > INT64_MAX / unit_e8 - 1) {
        return std::nullopt;
    }
    return *whole * unit_e8 + *part;
}

}  // namespace

std::string osi_symbol(const SeriesName& name) {
    std::string text =
        fmt::format("{:<6}{:06}{}", name.root, name.expiration - century, name.right);
    const std::int64_t thousandths = name.strike_e8 / thousandth_e8;
    if (name.strike_e8 % thousandth_e8 == 0 && thousandths < osi_strikes) {
        return text + fmt::format("{:08}", thousandths);
    }
    std::string fraction = fmt::format("{:08}", name.strike_e8 % unit_e8);
    while (fraction.size() > 1 && fraction.back() == '0') {
        fraction.pop_back();
    }
    return text + fmt::format("{}.{}", name.strike_e8 / unit_e8, fraction);
}

std::optional<SeriesName> parse_osi_symbol(std::string_view text) {
    if (text.size() <= strike_at) {
        return std::nullopt;
    }
    SeriesName name;
    const std::string_view root = text.substr(0, root_bytes);
    name.root = root.substr(0, root.find_last_not_of(' ') + 1);
    name.right = text[strike_at - 1];
    const auto date = number_of(text.substr(root_bytes, 6));
    const std::string_view strike = text.substr(strike_at);
    if (strike.find('.') != std::string_view::npos) {
        name.strike_e8 = decimal_of(strike).value_or(-1);
    } else if (text.size() == osi_bytes) {
        const auto thousandths = number_of(strike);
        name.strike_e8 = thousandths ? *thousandths * thousandth_e8 : -1;
    } else {
        return std::nullopt;
    }
    if (!date || name.root.empty() || (name.right != 'C' && name.right != 'P') ||
        name.strike_e8 < 0) {
        return std::nullopt;
    }
    name.expiration = century + static_cast<std::uint32_t>(*date);
    return osi_symbol(name) == text ? std::optional{name} : std::nullopt;
}

}  // namespace pinstrike::feed::dbn
