// path: cold
//
// The bytes of a capture file, decompressed where it is compressed. libarchive stays behind this
// file.
#pragma once

#include "config/problem.h"
#include "nic/file_descriptor.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

struct archive;

namespace pinstrike::nic {

class CaptureInput {
  public:
    /// Opens `path` ("-": standard input), which may be compressed by gzip, zstd, lz4 or xz; or
    /// tells the problem.
    [[nodiscard]] static std::optional<CaptureInput> open(const std::string& path,
                                                          Problems& problems);

    /// The next `count` bytes, valid until the next call; fewer where the input ends before.
    [[nodiscard]] std::span<const std::byte> take(std::size_t count);

    /// Skips `count` bytes; false if the input ends before.
    [[nodiscard]] bool skip(std::uint64_t count);

    /// Decompressed bytes that were taken or skipped.
    [[nodiscard]] std::uint64_t position() const { return position_; }

    /// Why reading failed (the disk, damaged compression), in words; empty where it did not.
    [[nodiscard]] const std::string& complaint() const { return complaint_; }

    /// A regular file can be opened again by its name; a pipe can be read only once.
    [[nodiscard]] bool is_regular() const { return is_regular_; }

  private:
    struct Free {
        void operator()(archive* reader) const;
    };

    CaptureInput(FileDescriptor file, bool is_regular);

    /// Makes the next bytes of the file ready in `block_`; false at the end.
    bool next_block();

    FileDescriptor file_;
    bool is_regular_;
    std::unique_ptr<archive, Free> reader_;
    std::span<const std::byte> block_;  ///< libarchive's, as far as it is not taken
    std::vector<std::byte> joined_;     ///< bytes of several blocks that were taken at once
    std::uint64_t position_ = 0;
    std::string complaint_;
};

}  // namespace pinstrike::nic
