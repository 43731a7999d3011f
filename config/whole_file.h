// path: cold
//
// An output file that is complete or unchanged: a regular file is written under a temporary name in
// the same folder, synced and renamed, so that a full disk or an interruption leaves the previous
// file. Pipes and devices are written directly.
#pragma once

#include <cstdio>
#include <functional>
#include <string>

namespace pinstrike {

/// Not renamed into place: a pipe, a device, a descriptor by its name.
[[nodiscard]] bool is_written_straight(const std::string& path);

class WholeFile {
  public:
    explicit WholeFile(const std::string& path);

    /// What was not committed is removed.
    ~WholeFile();

    WholeFile(const WholeFile&) = delete;
    WholeFile& operator=(const WholeFile&) = delete;

    /// Where to write; empty if it cannot be made.
    [[nodiscard]] const std::string& where() const { return where_; }

    /// Syncs and renames it. False, with errno: the previous file is still there.
    [[nodiscard]] bool commit();

    /// The errno of what failed; 0: nothing did.
    [[nodiscard]] int error() const { return error_; }

  private:
    std::string path_;   ///< links followed
    std::string where_;  ///< `path_`, or beside it
    int error_ = 0;
    bool made_ = false;  ///< beside, and not renamed yet
};

/// Writes a whole file ("-": standard output): what `put` writes, which says whether it could.
/// False, with errno, where not all of it is there.
[[nodiscard]] bool write_whole(const std::string& path, const std::function<bool(std::FILE*)>& put);

}  // namespace pinstrike
