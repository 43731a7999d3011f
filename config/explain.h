// path: cold
//
// What the tables say of a name, in one form for all of them: for a terminal, and for programs.
#pragma once

#include "config/form.h"

#include <string>
#include <string_view>
#include <vector>

namespace pinstrike {

/// "ports[0].pci" as the tables call it: "ports.pci".
std::string without_indices(std::string_view path);

/// One thing that is known of a name: "unit", "packets".
struct Fact {
    std::string word;
    std::string text;
};

struct Explanation {
    std::string kind;  ///< "key", "alert"
    std::string name;
    std::string sentence;
    std::vector<Fact> facts;         ///< in the order in which they are shown
    std::vector<ChoiceDoc> choices;  ///< of a key whose value is one of some words
    std::string metric;              ///< by which Prometheus knows it; empty: it does not
};

[[nodiscard]] Explanation explanation_of(const KeyDoc& doc);

/// A paragraph for a terminal: the name, then all of it, indented.
[[nodiscard]] std::string explain_text(const Explanation& explanation);

/// An array with an object of each.
[[nodiscard]] std::string explain_json(const std::vector<Explanation>& explanations);

/// The keys that a user may mean: that path ("ports[0].pci" counts as "ports.pci"), or all whose
/// last word it is, or a section's keys as well as the section.
[[nodiscard]] std::vector<KeyDoc> find_keys(const std::vector<KeyDoc>& docs,
                                            std::string_view asked);

/// Paths near to what was asked, for a user who mistyped.
[[nodiscard]] std::vector<std::string> near_keys(const std::vector<KeyDoc>& docs,
                                                 std::string_view asked);

}  // namespace pinstrike
