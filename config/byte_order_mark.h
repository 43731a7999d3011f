// path: cold
#pragma once

#include <string_view>

namespace pinstrike {

/// Removes the byte order mark that spreadsheets and some editors write before UTF-8 text.
[[nodiscard]] constexpr std::string_view without_byte_order_mark(std::string_view text) {
    constexpr std::string_view mark = "\xEF\xBB\xBF";
    return text.starts_with(mark) ? text.substr(mark.size()) : text;
}

}  // namespace pinstrike
