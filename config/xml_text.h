// path: cold
#pragma once

#include <string>
#include <string_view>

namespace pinstrike {

/// Escapes text for content or attribute values of an XML document (SVG).
[[nodiscard]] std::string xml_escaped(std::string_view text);

}  // namespace pinstrike
