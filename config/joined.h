// path: cold
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace pinstrike {

/// Joins the words with `between` as separator. (Not fmt::join, because g++ 12 at -O3 reports an
/// overflow in its format parser, and warnings are errors here.)
inline std::string joined(std::span<const std::string> words, std::string_view between = ", ") {
    std::string text;
    for (const std::string& word : words) {
        text += &word == words.data() ? std::string_view{} : between;
        text += word;
    }
    return text;
}

}  // namespace pinstrike
