// path: cold
#pragma once

#include <string>
#include <string_view>

namespace pinstrike::actors {

/// Text as it stands between tags, or in quotes, of an XML document (SVG).
[[nodiscard]] std::string xml_escaped(std::string_view text);

}  // namespace pinstrike::actors
