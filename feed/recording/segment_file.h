// path: cold
//
// Segments on disk: their names, and what a scan finds in one whose index is lost, wrong or was not
// finished.
#pragma once

#include "config/problem.h"
#include "feed/recording/segment_index.h"
#include "nic/capture/seekable_zstd.h"
#include "nic/file_descriptor.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace pinstrike::feed {

/// Adds a Problem of a system call that failed with this `errno`.
void add_error(Problems& problems, const std::string& path, const char* what, int error);

/// The files of a folder whose names have one of these endings, sorted.
[[nodiscard]] std::vector<std::string> files_in(const std::string& folder,
                                                std::initializer_list<std::string_view> endings,
                                                std::error_code& error);

struct ReadBytes {
    std::size_t count = 0;
    bool failed = false;  ///< the disk cannot read the next byte
};

/// Reads as many bytes as there are.
ReadBytes read_at(int fd, std::span<std::byte> into, std::uint64_t offset);

/// FOLDER/NAME-20261129T143000.123456789Z and the ending: names of files that sort by time.
[[nodiscard]] std::string timed_path(const std::string& folder, const std::string& name,
                                     std::int64_t wall_ns, std::string_view ending);

/// The time in the name of such a file; nothing if it has none.
[[nodiscard]] std::optional<std::int64_t> time_in_name(const std::string& path);

/// FOLDER/POLLER-20261129T143000.123456789Z.pcapng: the names of a poller's segments sort by time.
[[nodiscard]] std::string segment_path(const std::string& folder, const std::string& poller,
                                       std::int64_t wall_ns);

/// The poller of a segment.
[[nodiscard]] std::string poller_of(const std::string& segment);

/// Whether a file has the name of a segment, compressed or not.
[[nodiscard]] bool is_segment(const std::string& path);

/// The segments of a folder, sorted; of a segment in both forms, only the compressed file. A
/// Problem if it cannot be read.
[[nodiscard]] std::vector<std::string> segments_in(const std::string& folder, Problems& problems);

/// The captures in the folder of a recording that are no segments, sorted. They are never changed
/// or removed.
[[nodiscard]] std::vector<std::string> foreign_captures_in(const std::string& folder);

inline constexpr const char* foreign_capture =
    "does not belong to the recording: expected a name such as "
    "poller0-20261129T143000.123456789Z.pcapng";

/// Which segments of a folder are kept.
struct KeepLimits {
    std::int64_t oldest_ns = INT64_MIN;   ///< wall time of the last write
    std::uint64_t bytes = 0;              ///< of all segments and snapshots; 0: no limit
    std::uint64_t free_bytes = 0;         ///< that the file system must have
    std::set<std::string> unremovable{};  ///< paths that are not removed
};

/// The oldest segment, if the limits are exceeded; empty: none is to be removed. Segments that are
/// marked as kept, being written or read (which their locks show) are never removed.
[[nodiscard]] std::string segment_to_remove(const std::string& folder, const KeepLimits& limits);

/// Removes a segment with its index. False, with errno: the segment is still there.
[[nodiscard]] bool remove_segment(const std::string& path);

/// Removes a segment whose recorder was killed before it had written the head, so that it has no
/// packet. Returns what was done; empty: it is no such segment, or marked as kept.
[[nodiscard]] std::string remove_headless(const std::string& path);

/// Marks a segment, so that it is never removed, or takes the mark away. False, with errno: it
/// could not, for example because the segment was removed. Waits for a removal that has begun.
[[nodiscard]] bool mark_kept(const std::string& path, bool kept);

/// Keeps the segments of a folder from being marked, from the choice of one until it is removed.
/// Nothing: one is being marked.
[[nodiscard]] std::optional<nic::FileDescriptor> lock_marks(const std::string& folder);

[[nodiscard]] bool is_kept(const std::string& path);

/// A segment that is open for reading. The shared lock on it prevents removal.
class SegmentFile {
  public:
    /// Nothing, with a Problem, if it cannot be read or is not a segment. If the segment was
    /// compressed meanwhile, the compressed file is opened, and path() is that file's.
    [[nodiscard]] static std::optional<SegmentFile> open(const std::string& path,
                                                         Problems& problems);

    /// The bytes from `offset` on, at most chunk_bytes_max, valid until the next call. Fewer at the
    /// end of the file or of a compressed frame, and before bytes that the disk cannot read; those
    /// of a compressed frame are zeros. The offsets of a compressed segment are those before it was
    /// compressed.
    [[nodiscard]] std::span<const std::byte> read(std::uint64_t offset);

    /// Whether the disk could not read bytes in the last read().
    [[nodiscard]] bool read_failed() const { return read_failed_; }

    /// The index beside it. Nothing if it is lost or wrong, or does not end where the segment ends.
    [[nodiscard]] std::optional<SegmentIndex> index() const;

    /// The time of its earliest packet, by the beginning of the index beside it. Nothing if that is
    /// lost or wrong.
    [[nodiscard]] std::optional<std::int64_t> first_time() const;

    /// The index of a segment that is being written, as read_growing_index().
    [[nodiscard]] std::optional<SegmentIndex> growing_index() const;

    /// What an index that was not finished has of the segment, without a hole: chunks from the
    /// first one on.
    [[nodiscard]] SegmentIndex beginning() const;

    /// Whether a recorder writes to it now: it holds the file's lock.
    [[nodiscard]] bool is_being_written() const;

    [[nodiscard]] const std::string& path() const { return path_; }

    [[nodiscard]] const ReadHead& head() const { return head_; }

    /// The size before it was compressed.
    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

    /// The size of the file.
    [[nodiscard]] std::uint64_t file_bytes() const { return file_bytes_; }

    [[nodiscard]] bool is_compressed() const { return frames_.has_value(); }

  private:
    [[nodiscard]] std::vector<std::byte> index_bytes(std::uint64_t most) const;

    SegmentFile(std::string path, nic::FileDescriptor file, std::uint64_t bytes)
        : path_(std::move(path)), file_(std::move(file)), file_bytes_(bytes), bytes_(bytes) {}

    std::string path_;
    nic::FileDescriptor file_;
    std::optional<nic::SeekableZstd> frames_;
    std::uint64_t file_bytes_;
    std::uint64_t bytes_;
    ReadHead head_;
    std::vector<std::byte> buffer_;
    bool read_failed_ = false;
};

/// Bytes of a segment that are in no whole chunk.
struct DamagedBytes {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
};

/// The bytes before a chunk of an index that belong to no chunk of it: a repair leaves damaged ones
/// out. Nothing if there are none.
[[nodiscard]] std::optional<DamagedBytes> hole_before(std::span<const ChunkRecord> chunks,
                                                      std::size_t index,
                                                      std::uint64_t first_chunk_at);

/// Reads a segment chunk by chunk, and finds those that are whole and those that are damaged.
class SegmentScan {
  public:
    SegmentScan(SegmentFile file, NumbersOf numbers_of)
        : file_(std::move(file)), numbers_of_(numbers_of), at_(file_.head().bytes) {
        index_.first_chunk_at = at_;
    }

    /// Begins behind these chunks, which count as found.
    void begin_behind(SegmentIndex beginning) {
        index_ = std::move(beginning);
        at_ = index_.end();
    }

    /// Reads one chunk. False: there was none left.
    [[nodiscard]] bool step();

    [[nodiscard]] const SegmentFile& file() const { return file_; }

    /// After the last step: what was scanned.
    [[nodiscard]] SegmentFile take_file() && { return std::move(file_); }

    /// The bytes of the chunk that the last step read; empty if it was damaged.
    [[nodiscard]] std::span<const std::byte> chunk() const { return chunk_; }

    // What was found so far.

    /// From 0 to 1.
    [[nodiscard]] double share_read() const {
        return static_cast<double>(at_) / static_cast<double>(file_.bytes());
    }

    [[nodiscard]] const SegmentIndex& index() const { return index_; }

    [[nodiscard]] const std::vector<DamagedBytes>& damaged() const { return damaged_; }

    /// After the last step: cuts the segment behind its last whole block and writes its index; only
    /// the index if the segment is compressed, marked as kept, or if the disk could not read all of
    /// it. Another segment without packets is removed. Returns what was done, or a Problem.
    [[nodiscard]] std::string repair(Problems& problems);

  private:
    void add_damaged(std::uint64_t bytes);
    [[nodiscard]] std::vector<std::byte> whole_blocks_of_last();
    [[nodiscard]] bool cut_behind(std::span<const std::byte> last, std::uint64_t last_at) const;

    SegmentFile file_;
    NumbersOf numbers_of_;
    std::uint64_t at_;
    std::span<const std::byte> chunk_;
    SegmentIndex index_;
    std::vector<DamagedBytes> damaged_;
    bool reads_failed_ = false;  ///< the disk could not read all bytes
};

}  // namespace pinstrike::feed
