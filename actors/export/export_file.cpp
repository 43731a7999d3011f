// path: cold
#include "actors/export/export_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace pinstrike::actors {
namespace {

constexpr int compression_level = 1;
constexpr std::size_t copied_bytes = std::size_t{4} << 20;
constexpr int look_again_ms = 100;

/// A file without a name, in the folder for temporary files. Sets errno if there is none.
nic::FileDescriptor unnamed_file(std::string& folder) {
    std::error_code error;
    folder = std::filesystem::temp_directory_path(error).string();
    std::string name = folder + "/pinstrike-export.XXXXXX";
    nic::FileDescriptor file{error ? -1 : ::mkostemp(name.data(), O_CLOEXEC)};
    if (file.valid()) {
        ::unlink(name.c_str());
    } else if (error) {
        errno = error.value();
    }
    return file;
}

}  // namespace

void ExportFile::FreeCompressor::operator()(ZSTD_CCtx_s* compressor) const {
    ZSTD_freeCCtx(compressor);
}

ExportFile::ExportFile(std::string path, bool begins_late, const std::atomic<bool>& cancelled)
    : path_(std::move(path)),
      begins_late_(begins_late),
      cancelled_(cancelled),
      is_direct_(path_ == "-" || is_written_directly(path_)) {}

bool ExportFile::fail(const std::string& where, int error) {
    if (error_.empty()) {
        error_ =
            fmt::format("{}: {}", where == "-" ? "standard output" : where, std::strerror(error));
    }
    return false;
}

bool ExportFile::open() {
    if (path_.ends_with(".zst")) {
        compressor_.reset(ZSTD_createCCtx());
        ZSTD_CCtx_setParameter(compressor_.get(), ZSTD_c_compressionLevel, compression_level);
    }
    if (is_direct_ && !open_pipe()) {
        return false;
    }
    return (is_direct_ && !begins_late_) || open_records();
}

/// A named pipe without a reader cannot be opened, so it is tried again.
bool ExportFile::open_pipe() {
    while (!cancelled_.load(std::memory_order_relaxed)) {
        pipe_ = nic::FileDescriptor{path_ == "-"
                                        ? ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
                                        : ::open(path_.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC)};
        if (pipe_.valid() || errno != ENXIO) {
            break;
        }
        ::poll(nullptr, 0, look_again_ms);
    }
    return pipe_.valid() || fail(path_, errno);
}

bool ExportFile::open_records() {
    if (is_direct_) {
        records_ = unnamed_file(records_name_);
        records_name_ = "the temporary file in " + records_name_;
        return records_.valid() || fail(records_name_, errno);
    }
    records_name_ = path_;
    whole_.emplace(path_);
    if (whole_->error() != 0) {
        return fail(path_, whole_->error());
    }
    records_ = nic::FileDescriptor{::open(whole_->where().c_str(), O_RDWR | O_CLOEXEC)};
    return records_.valid() || fail(path_, errno);
}

bool ExportFile::write(std::span<const std::byte> bytes) {
    return error_.empty() && (compressor_ ? compress(bytes, false) : put(bytes));
}

bool ExportFile::compress(std::span<const std::byte> bytes, bool is_end) {
    compressed_.resize(std::max(compressed_.size(), ZSTD_CStreamOutSize()));
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    std::size_t left = 0;
    do {
        ZSTD_outBuffer out{compressed_.data(), compressed_.size(), 0};
        left = ZSTD_compressStream2(compressor_.get(), &out, &in,
                                    is_end ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(left) != 0) {
            return fail(path_, ENOMEM);
        }
        if (!put(std::span{compressed_}.first(out.pos))) {
            return false;
        }
    } while (in.pos < in.size || (is_end && left != 0));
    return true;
}

bool ExportFile::put(std::span<const std::byte> bytes) {
    if (!records_.valid()) {
        return put_in_pipe(bytes);
    }
    while (!bytes.empty()) {
        const ssize_t written = ::write(records_.get(), bytes.data(), bytes.size());
        if (written < 0 && errno != EINTR) {
            return fail(records_name_, errno);
        }
        bytes = bytes.subspan(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
        size_bytes_ += static_cast<std::uint64_t>(std::max<ssize_t>(written, 0));
    }
    return true;
}

/// Never blocks for long: a pipe that is ready takes at least PIPE_BUF bytes.
bool ExportFile::put_in_pipe(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        pollfd ready{pipe_.get(), POLLOUT, 0};
        if (cancelled_.load(std::memory_order_relaxed)) {
            return fail(path_, ECANCELED);
        }
        if (::poll(&ready, 1, look_again_ms) <= 0) {
            continue;
        }
        const auto part = std::min<std::size_t>(bytes.size(), PIPE_BUF);
        const ssize_t written = ::write(pipe_.get(), bytes.data(), part);
        if (written < 0 && errno != EINTR && errno != EAGAIN) {
            return fail(path_, errno);
        }
        bytes = bytes.subspan(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
    }
    return true;
}

std::size_t ExportFile::beginning_multiple_bytes() const {
    constexpr std::size_t dbn_multiple = 8;
    constexpr std::size_t file_system_block = 4096;
    return is_direct_ || compressor_ ? dbn_multiple : file_system_block;
}

bool ExportFile::write_beginning(std::span<const std::byte> bytes) {
    std::vector<std::byte> small;
    if (!error_.empty() || (compressor_ && !compress({}, true))) {
        return false;
    }
    if (compressor_) {  // a frame of its own; readers join the frames
        small.resize(ZSTD_compressBound(bytes.size()));
        small.resize(ZSTD_compress2(compressor_.get(), small.data(), small.size(), bytes.data(),
                                    bytes.size()));
        bytes = small;
    }
    return is_direct_ ? put_in_pipe(bytes) && send_records() : insert(bytes);
}

/// Inserts bytes before all others. File systems that cannot insert have them moved.
bool ExportFile::insert(std::span<const std::byte> bytes) {
    const auto size = static_cast<off_t>(bytes.size());
    const bool inserted = ::fallocate(records_.get(), FALLOC_FL_INSERT_RANGE, 0, size) == 0;
    if (!inserted && errno == ENOSPC) {
        return fail(path_, ENOSPC);
    }
    if (!inserted && !move_up(bytes.size())) {
        return false;
    }
    return ::lseek(records_.get(), 0, SEEK_SET) == 0 ? put(bytes) : fail(path_, errno);
}

/// From the end on, so that nothing is overwritten that was not copied.
bool ExportFile::move_up(std::size_t bytes) {
    std::vector<std::byte> copy(std::min<std::uint64_t>(copied_bytes, size_bytes_));
    for (std::uint64_t end = size_bytes_; end > 0;) {
        const std::size_t part = std::min<std::uint64_t>(copy.size(), end);
        const auto from = static_cast<off_t>(end - part);
        const ssize_t read = ::pread(records_.get(), copy.data(), part, from);
        const ssize_t written =
            read <= 0 ? read
                      : ::pwrite(records_.get(), copy.data(), static_cast<std::size_t>(read),
                                 from + static_cast<off_t>(bytes));
        if (read != static_cast<ssize_t>(part) || written != read) {
            return fail(path_, read < 0 || written < 0 ? errno : ENOSPC);
        }
        end -= part;
    }
    return true;
}

bool ExportFile::send_records() {
    std::vector<std::byte> copy(std::min<std::uint64_t>(copied_bytes, size_bytes_));
    for (std::uint64_t at = 0; at < size_bytes_;) {
        const ssize_t read =
            ::pread(records_.get(), copy.data(), copy.size(), static_cast<off_t>(at));
        if (read <= 0) {
            return fail(records_name_, read < 0 ? errno : EIO);
        }
        if (!put_in_pipe(std::span{copy}.first(static_cast<std::size_t>(read)))) {
            return false;
        }
        at += static_cast<std::uint64_t>(read);
    }
    return true;
}

bool ExportFile::finish() {
    return error_.empty() && (begins_late_ || !compressor_ || compress({}, true));
}

bool ExportFile::commit() {
    if (!error_.empty()) {
        return false;
    }
    records_ = nic::FileDescriptor{};
    return !whole_ || whole_->commit() || fail(path_, errno);
}

}  // namespace pinstrike::actors
