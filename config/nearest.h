// path: cold
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pinstrike {

/// The least number of insertions, deletions, replacements and swaps of adjacent letters that turn
/// one word into the other.
std::size_t edit_distance(std::string_view from, std::string_view to);

/// The known words most similar to a mistyped one, best first, at most `count`.
std::vector<std::string> nearest(std::string_view word, const std::vector<std::string>& known,
                                 std::size_t count = 1);

/// "; did you mean "x"?", or an empty text if no known word is similar.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace pinstrike
