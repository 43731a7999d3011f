// path: cold
#include "nic/capture/capture_input.h"

#include <archive.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

namespace pinstrike::nic {

namespace {

constexpr std::size_t input_block_bytes = 128 << 10;

std::atomic<std::uint64_t> bytes_read{0};

std::string said_by(archive* reader) {
    const char* said = archive_error_string(reader);
    return said != nullptr ? said : "it cannot be read";
}

/// Accepts all supported compression formats, uncompressed bytes, and empty files.
void support_formats(archive* reader) {
    archive_read_support_filter_gzip(reader);
    archive_read_support_filter_lz4(reader);
    archive_read_support_filter_xz(reader);
    archive_read_support_filter_zstd(reader);
    archive_read_support_format_raw(reader);
    archive_read_support_format_empty(reader);
}

/// Whether a file begins as pcapng or pcap does, so that it is not compressed.
bool is_plain(int file) {
    constexpr std::array<std::uint32_t, 5> magics{0x0A0D0D0A, 0xA1B2C3D4, 0xD4C3B2A1, 0xA1B23C4D,
                                                  0x4D3CB2A1};
    std::uint32_t magic = 0;
    return ::pread(file, &magic, sizeof magic, 0) == sizeof magic &&
           std::ranges::find(magics, magic) != magics.end();
}

/// The reason for which a file could not be opened.
std::string text_of_error(int error) {
    std::string text = std::strerror(error);
    if (rlimit limit{}; error == EMFILE && ::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        text += fmt::format("; {} are allowed at once (`ulimit -n`)", limit.rlim_cur);
    }
    return text;
}

}  // namespace

std::uint64_t capture_bytes_read() {
    return bytes_read.load(std::memory_order_relaxed);
}

void CaptureInput::Free::operator()(archive* reader) const {
    archive_read_free(reader);
}

CaptureInput::CaptureInput(FileDescriptor file, bool is_regular)
    : file_(std::move(file)), is_regular_(is_regular) {}

std::optional<CaptureInput> CaptureInput::open(const std::string& path, Problems& problems) {
    FileDescriptor file{path == "-" ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                    : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    if (!file.valid() && errno == ENOENT && path.ends_with(".pcapng")) {
        file = FileDescriptor{::open((path + ".zst").c_str(), O_RDONLY | O_CLOEXEC)};
    }

    struct stat status {};

    if (!file.valid() || ::fstat(file.get(), &status) != 0) {
        const int error = errno;
        add_problem(problems, path, fmt::format("cannot be opened: {}", text_of_error(error)),
                    remedy_of(error));
        return std::nullopt;
    }
    const int fd = file.get();
    CaptureInput input{std::move(file), path != "-" && S_ISREG(status.st_mode)};
    if (input.is_regular_) {
        const bool plain = is_plain(fd);
        if (!plain) {
            input.frames_ = SeekableZstd::open(fd);
        }
        if (plain || input.frames_) {
            static_cast<void>(::flock(fd, LOCK_SH | LOCK_NB));
            return input;
        }
    }
    if (!input.open_archive(path, problems)) {
        return std::nullopt;
    }
    return input;
}

bool CaptureInput::open_archive(const std::string& path, Problems& problems) {
    reader_.reset(archive_read_new());
    archive* const reader = reader_.get();
    support_formats(reader);
    archive_entry* entry = nullptr;
    const int opened = archive_read_open_fd(reader, file_.get(), input_block_bytes);
    const int begun = opened == ARCHIVE_OK ? archive_read_next_header(reader, &entry) : opened;
    if (begun == ARCHIVE_EOF) {
        add_problem(problems, path,
                    fmt::format("{} empty, a pcap or pcapng file expected",
                                path == "-" ? "standard input is" : "is"),
                    remedy());
    } else if (begun != ARCHIVE_OK) {
        const Remedy of_error = remedy_of(archive_errno(reader));
        add_problem(problems, path, fmt::format("cannot be read: {}", said_by(reader)),
                    of_error == Remedy::retry ? of_error : remedy());
    }
    return begun == ARCHIVE_OK;
}

bool CaptureInput::next_block() {
    if (frames_) {
        return next_frame();
    }
    if (reader_ == nullptr) {
        const std::size_t bytes = read_plain(0);  // may make the buffer larger
        block_ = std::span{buffer_}.first(bytes);
        return !block_.empty();
    }
    const void* bytes = nullptr;
    std::size_t count = 0;
    la_int64_t offset = 0;
    int result = ARCHIVE_OK;
    do {
        result = archive_read_data_block(reader_.get(), &bytes, &count, &offset);
    } while (result == ARCHIVE_RETRY || (result == ARCHIVE_OK && count == 0));
    if (result != ARCHIVE_OK) {
        if (result != ARCHIVE_EOF && complaint_.empty()) {
            complaint_ = said_by(reader_.get());
        }
        block_ = {};
        return false;
    }
    block_ = {static_cast<const std::byte*>(bytes), count};
    count_to(static_cast<std::uint64_t>(archive_filter_bytes(reader_.get(), -1)));
    return true;
}

bool CaptureInput::next_frame() {
    const std::uint64_t damaged_before = frames_->damaged();
    block_ = frames_->read(next_frame_at_);
    next_frame_at_ += block_.size();
    if (block_.empty()) {
        return false;
    }
    if (frames_->damaged() != damaged_before && complaint_.empty()) {
        complaint_ = fmt::format("the zstd frame that ends at byte {} of the file is damaged",
                                 frames_->file_offset());
    }
    count_to(frames_->file_offset());
    return true;
}

void CaptureInput::count_to(std::uint64_t of_file) {
    bytes_read.fetch_add(of_file - counted_bytes_, std::memory_order_relaxed);  // only a count
    counted_bytes_ = of_file;
}

/// Reads the next bytes of a plain file behind the first bytes of the buffer. Returns their number.
std::size_t CaptureInput::read_plain(std::size_t buffered_bytes) {
    if (buffer_.size() < buffered_bytes + input_block_bytes) {
        buffer_.resize(buffered_bytes + input_block_bytes);
    }
    ssize_t count = 0;
    do {
        count =
            ::read(file_.get(), buffer_.data() + buffered_bytes, buffer_.size() - buffered_bytes);
    } while (count < 0 && errno == EINTR);
    if (count < 0 && complaint_.empty()) {
        complaint_ = std::strerror(errno);
    }
    const auto bytes = static_cast<std::size_t>(std::max<ssize_t>(count, 0));
    count_to(counted_bytes_ + bytes);
    return bytes;
}

void CaptureInput::gather(std::size_t count) {
    if (block_.empty() && (!next_block() || block_.size() >= count)) {
        return;
    }
    std::size_t bytes = block_.size();
    if (buffer_.size() < bytes) {
        buffer_.resize(bytes);  // then the block is not in the buffer
    }
    std::memmove(buffer_.data(), block_.data(), bytes);
    while (bytes < count) {
        if (reader_ == nullptr && !frames_) {
            const std::size_t more = read_plain(bytes);
            bytes += more;
            if (more == 0) {
                break;
            }
        } else if (next_block()) {
            buffer_.resize(std::max(buffer_.size(), bytes + block_.size()));
            std::memcpy(buffer_.data() + bytes, block_.data(), block_.size());
            bytes += block_.size();
        } else {
            break;
        }
    }
    block_ = std::span{buffer_}.first(bytes);
}

std::span<const std::byte> CaptureInput::take(std::size_t count) {
    const auto taken = peek(count);
    block_ = block_.subspan(taken.size());
    position_ += taken.size();
    return taken;
}

std::span<const std::byte> CaptureInput::peek(std::size_t count) {
    if (count > block_.size()) {
        gather(count);
    }
    return block_.first(std::min(count, block_.size()));
}

bool CaptureInput::skip(std::uint64_t count) {
    while (count > block_.size()) {
        count -= block_.size();
        position_ += block_.size();
        if (!next_block()) {
            return false;
        }
    }
    block_ = block_.subspan(count);
    position_ += count;
    return true;
}

}  // namespace pinstrike::nic
