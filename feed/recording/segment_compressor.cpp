// path: cold
#include "feed/recording/segment_compressor.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

namespace pinstrike::feed {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view partial_suffix = ".zst.part";

/// The ends of the frames of a segment: of its head, of its chunks, and of what is between them.
std::vector<std::uint64_t> frame_ends(const SegmentIndex& index, std::uint64_t bytes) {
    std::vector<std::uint64_t> ends;
    std::uint64_t at = 0;
    const auto add_up_to = [&](std::uint64_t end) {
        while (at < end) {
            at = std::min<std::uint64_t>(end, at + nic::zstd_frame_bytes_max);
            ends.push_back(at);
        }
    };
    add_up_to(index.first_chunk_at);
    for (const ChunkRecord& chunk : index.chunks) {
        add_up_to(chunk.offset);
        add_up_to(chunk.offset + chunk.bytes);
    }
    add_up_to(bytes);
    return ends;
}

/// A file that its group can read, whatever the umask says, with the times of another one.
bool copy_mode_and_times(int fd, const std::string& from) {
    struct stat status {};

    if (::stat(from.c_str(), &status) != 0) {
        return false;
    }
    const std::array times{status.st_atim, status.st_mtim};
    return ::fchmod(fd, status.st_mode & 0777) == 0 && ::futimens(fd, times.data()) == 0;
}

/// Whether a segment lies beside its whole compressed form, as after a crash between the rename and
/// the removal.
bool is_replaced(const std::string& plain, const std::string& compressed) {
    Problems unread;
    const auto segment = SegmentFile::open(plain, unread);
    const auto packed = segment ? SegmentFile::open(compressed, unread) : std::nullopt;
    return packed && packed->is_compressed() && packed->bytes() == segment->bytes();
}

}  // namespace

SegmentCompressor::SegmentCompressor(SegmentFile segment, const SegmentIndex& index, int level)
    : segment_(std::move(segment)),
      to_(fmt::format("{}{}", segment_.path(), partial_suffix)),
      file_(::open(to_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR)),
      writer_(level),
      ends_(frame_ends(index, segment_.bytes())) {}

SegmentCompressor::~SegmentCompressor() {
    if (file_.valid()) {
        static_cast<void>(::unlink(to_.c_str()));
    }
}

std::optional<SegmentCompressor> SegmentCompressor::begin(SegmentFile segment,
                                                          const SegmentIndex& index, int level,
                                                          Problems& problems) {
    SegmentCompressor compressor{std::move(segment), index, level};
    if (!compressor.file_.valid()) {
        add_error(problems, compressor.to_, "cannot be written", errno);
        return std::nullopt;
    }
    return compressor;
}

bool SegmentCompressor::step(Problems& problems) {
    if (frames_.size() == ends_.size()) {
        return false;
    }
    const std::uint64_t bytes = ends_[frames_.size()] - at_;
    const std::span<const std::byte> read = segment_.read(at_);
    if (read.size() < bytes) {
        add_problem(problems, path(), fmt::format("cannot be read from byte {} on", at_));
        return false;
    }
    const std::span<const std::byte> frame = writer_.compress(read.first(bytes));
    if (frame.empty()) {
        add_problem(problems, path(), "cannot be compressed: no memory");
        return false;
    }
    if (!write(frame)) {
        add_error(problems, to_, "cannot be written", errno);
        return false;
    }
    frames_.push_back(
        {static_cast<std::uint32_t>(frame.size()), static_cast<std::uint32_t>(bytes)});
    at_ += bytes;
    return true;
}

bool SegmentCompressor::write(std::span<const std::byte> bytes) {
    compressed_bytes_ += bytes.size();
    while (!bytes.empty()) {
        const ssize_t written = ::write(file_.get(), bytes.data(), bytes.size());
        if (written <= 0) {
            return false;
        }
        bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return true;
}

bool SegmentCompressor::finish(Problems& problems) {
    const std::string name = path() + std::string{compressed_suffix};
    if (frames_.size() != ends_.size() || !write(nic::seek_table_of(frames_)) ||
        !copy_mode_and_times(file_.get(), path()) || ::fsync(file_.get()) != 0 ||
        ::rename(to_.c_str(), name.c_str()) != 0) {
        add_error(problems, to_, "cannot be written", errno);
        return false;
    }
    // The new name is on disk before the segment goes, and nobody needs the file in the page cache.
    const nic::FileDescriptor folder{
        ::open(fs::path{name}.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    static_cast<void>(::fsync(folder.get()));
    static_cast<void>(::posix_fadvise(file_.get(), 0, 0, POSIX_FADV_DONTNEED));
    file_ = nic::FileDescriptor{};
    static_cast<void>(::unlink(path().c_str()));
    return true;
}

void remove_unfinished_compressions(const std::string& folder) {
    std::error_code error;
    for (const std::string& path : files_in(folder, {partial_suffix, compressed_suffix}, error)) {
        const std::string plain{plain_path(path)};
        std::error_code ignored;
        if (path.ends_with(partial_suffix)) {
            fs::remove(path, ignored);
        } else if (plain != path && fs::exists(plain, ignored) && is_replaced(plain, path)) {
            fs::remove(plain, ignored);
        }
    }
}

}  // namespace pinstrike::feed
