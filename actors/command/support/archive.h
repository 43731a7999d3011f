// path: cold
#pragma once

#include <string>
#include <vector>

namespace pinstrike::actors::support {

struct ArchiveFile {
    std::string name;
    std::string text;
};

/// Writes a .tar.gz with these files in one folder. Only its owner can read it. On an error, sets
/// `complaint`, returns false and leaves no incomplete archive.
[[nodiscard]] bool write_archive(const std::string& path, const std::string& folder,
                                 const std::vector<ArchiveFile>& files, std::string& complaint);

}  // namespace pinstrike::actors::support
