// path: cold
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace pinstrike {

/// The words in their order, `between` each two of them. (fmt::join would do, but g++ 12 at -O3
/// calls its parsing of a format an overflow, which is an error here.)
inline std::string joined(std::span<const std::string> words, std::string_view between = ", ") {
    std::string text;
    for (const std::string& word : words) {
        text += &word == words.data() ? std::string_view{} : between;
        text += word;
    }
    return text;
}

}  // namespace pinstrike
