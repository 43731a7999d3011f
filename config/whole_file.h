// path: cold
//
// An output file that is either complete or unchanged. A regular file is written under a temporary
// name in the same folder, synced and renamed, so that a full disk or an interruption leaves the
// previous file. Pipes and devices are written directly.
#pragma once

#include <cstdio>
#include <functional>
#include <string>

namespace pinstrike {

/// True for paths that are written directly: pipes, devices, paths of descriptors (/dev/stdout).
[[nodiscard]] bool is_written_directly(const std::string& path);

class WholeFile {
  public:
    /// `for_owner_only`: mode 0600. Otherwise the file has the mode of the previous one, or that of
    /// any new file.
    explicit WholeFile(const std::string& path, bool for_owner_only = false);

    /// Removes the temporary file if commit() did not rename it.
    ~WholeFile();

    WholeFile(const WholeFile&) = delete;
    WholeFile& operator=(const WholeFile&) = delete;

    /// The path to write to; empty if the file cannot be created.
    [[nodiscard]] const std::string& where() const { return where_; }

    /// Syncs and renames the file. On failure sets errno, leaves the previous file unchanged and
    /// returns false.
    [[nodiscard]] bool commit();

    /// The errno of the first failure; 0 if none failed.
    [[nodiscard]] int error() const { return error_; }

  private:
    std::string path_;   ///< symbolic links resolved
    std::string where_;  ///< `path_`, or a temporary file beside it
    int error_ = 0;
    bool made_ = false;  ///< a temporary file exists
};

/// Writes a whole file ("-": standard output) with `put`, which returns whether it succeeded. If
/// anything was not written, sets errno and returns false.
[[nodiscard]] bool write_whole(const std::string& path, const std::function<bool(std::FILE*)>& put);

}  // namespace pinstrike
