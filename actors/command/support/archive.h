// path: cold
#pragma once

#include "actors/command/support/parts.h"

#include <string>
#include <vector>

namespace pinstrike::actors::support {

/// Writes a .tar.gz with the parts that are there, as files of one folder. Only its owner can read
/// it. On an error, sets `complaint`, returns false and leaves no incomplete archive.
[[nodiscard]] bool write_archive(const std::string& path, const std::string& folder,
                                 const std::vector<Part>& parts, std::string& complaint);

}  // namespace pinstrike::actors::support
