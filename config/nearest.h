// path: cold
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pinstrike {

/// Insertions, deletions, replacements and swaps of neighbours that lead from one word to another.
std::size_t edit_distance(std::string_view from, std::string_view to);

/// The known words that a mistyped one may have meant, best first, at most `count`.
std::vector<std::string> nearest(std::string_view word, const std::vector<std::string>& known,
                                 std::size_t count = 1);

/// "; did you mean "x"?", or nothing where no known word is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace pinstrike
