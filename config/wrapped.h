// path: cold
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace pinstrike {

/// Wraps words into lines of at most `columns` characters, without a line end at the end. The first
/// line begins at column `used`; later ones are indented by `indent`. Text without blanks is not
/// broken, because commands are copied. UTF-8 continuation bytes do not count.
inline std::string wrapped(std::string_view text, std::size_t indent, std::size_t used,
                           std::size_t columns) {
    std::string out;
    std::size_t column = used;
    const char* const begin = text.data();
    while (!text.empty()) {
        const std::string_view word = text.substr(0, text.find(' '));
        text.remove_prefix(std::min(text.size(), word.size() + 1));
        const auto width =
            static_cast<std::size_t>(std::count_if(word.begin(), word.end(), [](char byte) {
                return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
            }));
        if (word.data() != begin && column + 1 + width > columns) {
            out.append("\n").append(indent, ' ');
            column = indent;
        } else if (word.data() != begin) {
            out += ' ';
            ++column;
        }
        out += word;
        column += width;
    }
    return out;
}

}  // namespace pinstrike
