// path: cold
//
// The bytes of a capture file, decompressed if it is compressed: by libarchive, or frame by frame
// if it is in the seekable format of zstd. A file that begins as a capture does is read as it is.
// Only this file uses libarchive.
#pragma once

#include "config/problem.h"
#include "nic/capture/seekable_zstd.h"
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

/// Bytes of files that all inputs of this program have read so far, compressed as they are in the
/// files, and a little more than that where files are opened twice. Any thread; for the progress of
/// commands.
[[nodiscard]] std::uint64_t capture_bytes_read();

class CaptureInput {
  public:
    /// Opens `path` ("-": standard input), which may be compressed by gzip, zstd, lz4 or xz;
    /// nullopt, with a problem added, if it cannot be opened. A recorder may replace a file
    /// `x.pcapng` by `x.pcapng.zst` at any time, which is opened then, and does not remove one that
    /// is open, which a shared lock shows.
    [[nodiscard]] static std::optional<CaptureInput> open(const std::string& path,
                                                          Problems& problems);

    /// Reads the next `count` bytes, valid until the next call; fewer if the input ends first.
    [[nodiscard]] std::span<const std::byte> take(std::size_t count);

    /// The same bytes, which the next take() or skip() reads again.
    [[nodiscard]] std::span<const std::byte> peek(std::size_t count);

    /// Skips `count` bytes; false if the input ends first.
    [[nodiscard]] bool skip(std::uint64_t count);

    /// The number of decompressed bytes read or skipped.
    [[nodiscard]] std::uint64_t position() const { return position_; }

    /// The reason for which reading failed (a disk error, damaged compression); empty if it did not
    /// fail.
    [[nodiscard]] const std::string& complaint() const { return complaint_; }

    /// True for a regular file, which can be opened again by its name. A pipe can be read only
    /// once.
    [[nodiscard]] bool is_regular() const { return is_regular_; }

    /// The remedy for content that is not a capture. A pipe may bring other bytes at the next
    /// start.
    [[nodiscard]] Remedy remedy() const { return is_regular_ ? Remedy::change : Remedy::retry; }

  private:
    struct Free {
        void operator()(archive* reader) const;
    };

    CaptureInput(FileDescriptor file, bool is_regular);

    /// Lets libarchive open the file.
    [[nodiscard]] bool open_archive(const std::string& path, Problems& problems);

    /// Reads the next bytes of the file into `block_`; false at the end.
    bool next_block();
    bool next_frame();
    /// Reads until `block_` has this many bytes, or the file ends.
    void gather(std::size_t count);
    std::size_t read_plain(std::size_t buffered_bytes);
    void count_to(std::uint64_t of_file);

    FileDescriptor file_;
    bool is_regular_;
    std::unique_ptr<archive, Free> reader_;  ///< null: the file is plain, or read by frames
    std::optional<SeekableZstd> frames_;
    std::uint64_t next_frame_at_ = 0;   ///< in the decompressed content
    std::span<const std::byte> block_;  ///< the bytes that were read, without those already taken
    std::vector<std::byte> buffer_;     ///< the bytes of a plain file, and joined blocks
    std::uint64_t position_ = 0;
    std::uint64_t counted_bytes_ = 0;  ///< of the file, in capture_bytes_read()
    std::string complaint_;
};

}  // namespace pinstrike::nic
