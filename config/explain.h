// path: cold
//
// Explanations of names in the tables of keys, counters and alerts, as text for a terminal and as
// JSON for programs.
#pragma once

#include "config/form.h"

#include <string>
#include <string_view>
#include <vector>

namespace pinstrike {

/// The path without list indices, as the tables of keys contain it: "ports.pci" for "ports[0].pci".
std::string without_indices(std::string_view path);

/// One property of a name: "unit", "packets".
struct Fact {
    std::string word;
    std::string text;
};

struct Explanation {
    std::string kind;  ///< "key", "alert"
    std::string name;
    std::string sentence;
    std::vector<Fact> facts;         ///< in the order in which they are shown
    std::vector<ChoiceDoc> choices;  ///< the words that the key accepts, if any
    std::string metric;              ///< its name in Prometheus; empty: not a metric
};

[[nodiscard]] Explanation explanation_of(const KeyDoc& doc);

/// A paragraph for a terminal: the name, then the rest indented.
[[nodiscard]] std::string explain_text(const Explanation& explanation);

/// A JSON array with one object for each explanation.
[[nodiscard]] std::string explain_json(const std::vector<Explanation>& explanations);

/// Finds the keys that a user may mean by `asked`: the key with this path ("ports[0].pci" counts as
/// "ports.pci"), all keys with this last word, and for a section its keys as well.
[[nodiscard]] std::vector<KeyDoc> find_keys(const std::vector<KeyDoc>& docs,
                                            std::string_view asked);

/// Paths similar to `asked`, for a user who mistyped.
[[nodiscard]] std::vector<std::string> near_keys(const std::vector<KeyDoc>& docs,
                                                 std::string_view asked);

}  // namespace pinstrike
