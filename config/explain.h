// path: cold
#pragma once

#include "config/form.h"
#include "config/rows.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pinstrike {

/// "ports[0].pci" as the tables call it: "ports.pci".
std::string without_indices(std::string_view path);

/// What a table says of one key, as a paragraph for a terminal.
std::string explain_text(const KeyDoc& doc);

/// The keys that a user may mean: that path ("ports[0].pci" counts as "ports.pci"), or all whose
/// last word it is, or a section's keys as well as the section.
std::vector<KeyDoc> find_keys(const std::vector<KeyDoc>& docs, std::string_view asked);

/// A table of counters or reasons.
struct RowTable {
    std::string_view of;  ///< what has them: "a line"
    std::span<const Row> rows;
};

/// What the tables say of the rows of this name, a paragraph each; empty where none has it.
std::string explain_rows(std::span<const RowTable> tables, std::string_view name);

/// Paths near to what was asked, for a user who mistyped.
std::vector<std::string> near_keys(const std::vector<KeyDoc>& docs, std::string_view asked);

}  // namespace pinstrike
