// path: cold
#pragma once

#include "config/form.h"

#include <string>
#include <string_view>
#include <vector>

namespace pinstrike {

/// What a table says of one key, as a paragraph for a terminal.
std::string explain_text(const KeyDoc& doc);

/// The keys that a user may mean: that path ("ports[0].pci" counts as "ports.pci"), or all whose
/// last word it is, or a section's keys as well as the section.
std::vector<KeyDoc> find_keys(const std::vector<KeyDoc>& docs, std::string_view asked);

/// Paths near to what was asked, for a user who mistyped.
std::vector<std::string> near_keys(const std::vector<KeyDoc>& docs, std::string_view asked);

}  // namespace pinstrike
