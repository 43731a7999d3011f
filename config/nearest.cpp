// path: cold
#include "config/nearest.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace pinstrike {

namespace {

constexpr std::size_t too_far = std::numeric_limits<std::size_t>::max();

/// The edit distance of a word from a known one; 1 if one contains the other; too_far if they are
/// not similar. Words whose lengths differ too much are not compared letter by letter, because the
/// word may be a megabyte long.
std::size_t likeness(std::string_view word, const std::string& known) {
    const std::size_t longer = std::max(word.size(), known.size());
    const std::size_t shorter = std::min(word.size(), known.size());
    if (shorter >= 3 && longer <= 100 &&
        (known.find(word) != std::string::npos || word.find(known) != std::string_view::npos)) {
        return 1;
    }
    const std::size_t allowed = std::max<std::size_t>(1, known.size() / 3);
    if (longer - shorter > allowed) {
        return too_far;
    }
    const std::size_t distance = edit_distance(word, known);
    return distance <= allowed && distance < known.size() ? distance : too_far;
}

}  // namespace

std::size_t edit_distance(std::string_view from, std::string_view to) {
    std::vector<std::size_t> before(to.size() + 1);
    std::vector<std::size_t> above(to.size() + 1);
    std::vector<std::size_t> row(to.size() + 1);
    for (std::size_t j = 0; j <= to.size(); ++j) {
        above[j] = j;
    }
    for (std::size_t i = 1; i <= from.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= to.size(); ++j) {
            const std::size_t replaced = above[j - 1] + (from[i - 1] == to[j - 1] ? 0U : 1U);
            row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
            if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1]) {
                row[j] = std::min(row[j], before[j - 2] + 1);
            }
        }
        before.swap(above);
        above.swap(row);
    }
    return above[to.size()];
}

std::vector<std::string> nearest(std::string_view word, const std::vector<std::string>& known,
                                 std::size_t count) {
    // Pairs of distance and position, so that words of equal distance keep the order of `known`.
    // std::stable_sort would keep it too, but clang reports its temporary buffer as deprecated.
    std::vector<std::pair<std::size_t, std::size_t>> found;
    for (std::size_t i = 0; i < known.size(); ++i) {
        const std::size_t distance = likeness(word, known[i]);
        if (distance != too_far) {
            found.emplace_back(distance, i);
        }
    }
    std::sort(found.begin(), found.end());
    std::vector<std::string> words;
    for (std::size_t i = 0; i < std::min(count, found.size()); ++i) {
        words.push_back(known[found[i].second]);
    }
    return words;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
    const std::vector<std::string> best = nearest(word, known);
    return best.empty() ? std::string{} : fmt::format("; did you mean \"{}\"?", best.front());
}

}  // namespace pinstrike
