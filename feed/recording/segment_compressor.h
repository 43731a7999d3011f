// path: cold
//
// Compresses a segment that is closed and has its index, frame by frame: its head, each chunk, and
// the damaged bytes between chunks are frames of their own, so that a reader can begin at each
// chunk. The compressed file replaces the segment when it is complete and on disk.
#pragma once

#include "config/problem.h"
#include "feed/recording/segment_file.h"
#include "nic/capture/seekable_zstd.h"
#include "nic/file_descriptor.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pinstrike::feed {

class SegmentCompressor {
  public:
    /// Nothing, with a Problem, if the compressed file cannot be made.
    [[nodiscard]] static std::optional<SegmentCompressor> begin(SegmentFile segment,
                                                                const SegmentIndex& index,
                                                                int level, Problems& problems);

    SegmentCompressor(SegmentCompressor&&) noexcept = default;
    SegmentCompressor& operator=(SegmentCompressor&&) noexcept = default;

    /// Removes the compressed file if it is not complete.
    ~SegmentCompressor();

    /// Compresses one frame. False: there is none left, or a Problem was added.
    [[nodiscard]] bool step(Problems& problems);

    /// After the last step: puts the compressed file in the place of the segment. False, with a
    /// Problem, if it cannot; the segment is as before then.
    [[nodiscard]] bool finish(Problems& problems);

    [[nodiscard]] const std::string& path() const { return segment_.path(); }

    /// Bytes of the segment that were compressed, and what became of them.
    [[nodiscard]] std::uint64_t bytes() const { return at_; }

    [[nodiscard]] std::uint64_t compressed_bytes() const { return compressed_bytes_; }

  private:
    SegmentCompressor(SegmentFile segment, const SegmentIndex& index, int level);

    [[nodiscard]] bool write(std::span<const std::byte> bytes);

    SegmentFile segment_;
    std::string to_;  ///< the name that the file has while it is written
    nic::FileDescriptor file_;
    nic::ZstdFrameWriter writer_;
    std::vector<std::uint64_t> ends_;  ///< of the frames, in the segment
    std::vector<nic::ZstdFrame> frames_;
    std::uint64_t at_ = 0;
    std::uint64_t compressed_bytes_ = 0;
};

/// Removes what a compression that was interrupted left in a folder: its output, or the segment
/// that the output has replaced.
void remove_unfinished_compressions(const std::string& folder);

}  // namespace pinstrike::feed
