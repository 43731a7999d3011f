// path: cold
#include "actors/recorder/segment_writer.h"

#include "actors/recorder/record_config.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

namespace pinstrike::actors {

namespace {

/// Makes a file that its group can read, whatever the umask says.
nic::FileDescriptor make_file(const std::string& path, int flags) {
    nic::FileDescriptor file{
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | flags, recording_file_mode)};
    if (file.valid()) {
        static_cast<void>(::fchmod(file.get(), recording_file_mode));
    }
    return file;
}

/// Not every file system can write past the page cache.
nic::FileDescriptor make_segment(const std::string& path) {
    nic::FileDescriptor file = make_file(path, O_DIRECT);
    if (!file.valid() && errno == EINVAL) {
        static_cast<void>(::unlink(path.c_str()));
        return make_file(path, 0);
    }
    return file;
}

/// Reserves the space, so that the segment does not fail half-written. Its size stays as written,
/// so that other programs can read it meanwhile.
bool reserve(int fd, std::uint64_t bytes) {
    return ::fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(bytes)) == 0 ||
           errno == EOPNOTSUPP;
}

/// The memory and the size of a write with O_DIRECT are multiples of the alignment.
bool write_head(int fd, const std::vector<std::byte>& head) {
    std::vector<feed::Page> copy(head.size() / sizeof(feed::Page));
    std::memcpy(copy.data(), head.data(), head.size());
    const ssize_t written = ::pwrite(fd, copy.data(), head.size(), 0);
    if (written >= 0 && static_cast<std::size_t>(written) != head.size()) {
        errno = ENOSPC;
    }
    return written == static_cast<ssize_t>(head.size());
}

/// Shows who writes. A tool that looks at the segment holds the lock for a moment, and not every
/// file system has locks.
bool lock(int fd) {
    constexpr int tries_max = 100;
    for (int tries = 0; tries < tries_max; ++tries) {
        if (::flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) {
            return true;
        }
        std::this_thread::sleep_for(std::chrono::microseconds{100});
    }
    return false;
}

}  // namespace

bool SegmentWriter::open(const std::string& path, const feed::SegmentHead& head,
                         std::uint64_t bytes) {
    const std::vector<std::byte> first = feed::bytes_of(head);
    nic::FileDescriptor file = make_segment(path);
    if (!file.valid()) {
        return false;
    }
    // Shows tools who writes. It comes before the head, so that nobody takes the segment for one
    // whose recorder is gone.
    static_cast<void>(::flock(file.get(), LOCK_EX | LOCK_NB));
    nic::FileDescriptor index = make_file(feed::index_path(path), 0);
    if (!index.valid() || !lock(file.get()) || !reserve(file.get(), bytes) ||
        !write_head(file.get(), first)) {
        const int error = errno;
        static_cast<void>(::unlink(path.c_str()));
        static_cast<void>(::unlink(feed::index_path(path).c_str()));
        errno = error;
        return false;
    }
    path_ = path;
    file_ = std::move(file);
    index_ = std::move(index);
    bytes_ = bytes;
    next_ = end_ = first.size();
    chunks_ = added_ = 0;
    interfaces_ = head.interfaces.size();
    index_whole_ = reserved_ = true;
    std::vector<std::byte> index_head;
    feed::append_index_head(index_head, first.size());
    write_index(index_head);
    return true;
}

std::uint64_t SegmentWriter::place(std::size_t bytes) {
    ++chunks_;
    return std::exchange(next_, next_ + bytes);
}

void SegmentWriter::add(const feed::ChunkRecord& record) {
    ++added_;
    end_ = std::max(end_, record.offset + record.bytes);
    std::vector<std::byte> bytes;
    feed::append_record(bytes, record);
    write_index(bytes);
}

void SegmentWriter::write_index(std::span<const std::byte> bytes) {
    index_whole_ = index_whole_ && ::write(index_.get(), bytes.data(), bytes.size()) ==
                                       static_cast<ssize_t>(bytes.size());
}

void SegmentWriter::set_reserved(bool reserved) {
    if (!is_open() || reserved == reserved_ || next_ >= bytes_) {
        return;
    }
    reserved_ = reserved;
    // Not every file system can do it, and a full disk shows with the next write.
    const auto behind = static_cast<off_t>(next_);
    const auto bytes = static_cast<off_t>(bytes_ - next_);
    if (reserved) {
        static_cast<void>(::fallocate(file_.get(), FALLOC_FL_KEEP_SIZE, behind, bytes));
        return;
    }

    struct stat status {};

    if (::fstat(file_.get(), &status) == 0) {  // ext4 gives it back with a truncation to the size
        static_cast<void>(::ftruncate(file_.get(), status.st_size));
    }
    static_cast<void>(::fallocate(file_.get(), FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE, behind,
                                  bytes));  // others
}

void SegmentWriter::close() {
    if (!is_open()) {
        return;
    }
    static_cast<void>(::ftruncate(file_.get(), static_cast<off_t>(end_)));
    file_ = nic::FileDescriptor{};
    index_ = nic::FileDescriptor{};
    const bool empty = added_ == 0;
    if (empty) {
        static_cast<void>(::unlink(path_.c_str()));
    }
    if (empty || !index_whole_) {  // the next start makes the index again
        static_cast<void>(::unlink(feed::index_path(path_).c_str()));
    }
}

}  // namespace pinstrike::actors
