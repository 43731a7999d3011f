// path: cold
//
// Files in the seekable format of zstd: independent frames, and behind them a table of their sizes.
// Any zstd program reads such a file; with the table, a reader can begin at each frame, and passes
// over a damaged one. https://github.com/facebook/zstd, contrib/seekable_format, version 0.1.1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace pinstrike::nic {

/// The sizes of a frame, compressed and not.
struct ZstdFrame {
    std::uint32_t packed_bytes = 0;
    std::uint32_t bytes = 0;
};

/// A decompressed frame has at most this many bytes. Files with larger frames are refused here.
inline constexpr std::uint32_t zstd_frame_bytes_max = 1 << 20;

/// The table that ends a file of these frames.
[[nodiscard]] std::vector<std::byte> seek_table_of(std::span<const ZstdFrame> frames);

/// Makes frames.
class ZstdFrameWriter {
  public:
    /// `level`: of zstd; 0 is its default.
    explicit ZstdFrameWriter(int level);

    /// The frame of these bytes, with a checksum, valid until the next call. Empty if there is no
    /// memory.
    [[nodiscard]] std::span<const std::byte> compress(std::span<const std::byte> bytes);

  private:
    struct Free {
        void operator()(ZSTD_CCtx_s* context) const;
    };

    std::unique_ptr<ZSTD_CCtx_s, Free> context_;
    std::vector<std::byte> frame_;
};

/// Reads an open file, whose descriptor must outlive the object.
class SeekableZstd {
  public:
    /// Nothing if the file has no seek table, or one that does not fit the file, or larger frames.
    [[nodiscard]] static std::optional<SeekableZstd> open(int fd);

    /// The size of the decompressed content.
    [[nodiscard]] std::uint64_t bytes() const { return frames_.back().end; }

    /// The decompressed bytes from `offset` up to the end of their frame, valid until the next
    /// call. Empty behind the last frame. A damaged frame has zeros.
    [[nodiscard]] std::span<const std::byte> read(std::uint64_t offset);

    /// Where the frame that was read last ends in the file.
    [[nodiscard]] std::uint64_t file_offset() const { return file_offset_; }

    /// Damaged frames that were read.
    [[nodiscard]] std::uint64_t damaged() const { return damaged_; }

    /// Of these, those that the disk could not read. A later read tries again.
    [[nodiscard]] std::uint64_t unread() const { return unread_; }

  private:
    struct Frame {
        std::uint64_t at = 0;  ///< in the file
        std::uint32_t packed_bytes = 0;
        std::uint64_t end = 0;  ///< in the decompressed content
    };

    struct Free {
        void operator()(ZSTD_DCtx_s* context) const;
    };

    explicit SeekableZstd(int fd);

    [[nodiscard]] bool load(const Frame& frame, std::size_t bytes);

    int fd_;
    std::unique_ptr<ZSTD_DCtx_s, Free> context_;
    std::vector<Frame> frames_;
    std::vector<std::byte> packed_;
    std::vector<std::byte> content_;
    std::size_t loaded_ = SIZE_MAX;  ///< index of the frame in `content_`
    std::uint64_t file_offset_ = 0;
    std::uint64_t damaged_ = 0;
    std::uint64_t unread_ = 0;
};

}  // namespace pinstrike::nic
