// path: cold
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace pinstrike {

/// Joins the words of the items with `between` as separator. (Not fmt::join, because g++ 12 at -O3
/// reports an overflow in its format parser, and warnings are errors here.)
template <class Items, class WordOf = std::identity>
[[nodiscard]] std::string joined(const Items& items, std::string_view between = ", ",
                                 const WordOf& word_of = {}) {
    std::string text;
    bool first = true;
    for (const auto& item : items) {
        text += first ? std::string_view{} : between;
        text += std::invoke(word_of, item);
        first = false;
    }
    return text;
}

}  // namespace pinstrike
