// path: cold
#pragma once

#include <string>
#include <vector>

namespace pinstrike::actors::support {

struct ArchiveFile {
    std::string name;
    std::string text;
};

/// Writes a .tar.gz with these files in one folder, readable by its owner alone. It stands under
/// its name whole or not at all; `complaint` says why not.
[[nodiscard]] bool write_archive(const std::string& path, const std::string& folder,
                                 const std::vector<ArchiveFile>& files, std::string& complaint);

}  // namespace pinstrike::actors::support
