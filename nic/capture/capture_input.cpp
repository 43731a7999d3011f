// path: cold
#include "nic/capture/capture_input.h"

#include <archive.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

namespace pinstrike::nic {

namespace {

constexpr std::size_t block_bytes = 64 << 10;

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
    : file_(std::move(file)), is_regular_(is_regular), reader_(archive_read_new()) {}

std::optional<CaptureInput> CaptureInput::open(const std::string& path, Problems& problems) {
    FileDescriptor file{path == "-" ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                    : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)};

    struct stat status {};

    if (!file.valid() || ::fstat(file.get(), &status) != 0) {
        const int error = errno;
        add_problem(problems, path, fmt::format("cannot be opened: {}", text_of_error(error)),
                    remedy_of(error));
        return std::nullopt;
    }
    const int fd = file.get();
    CaptureInput input{std::move(file), path != "-" && S_ISREG(status.st_mode)};
    if (input.is_regular_ && (input.frames_ = SeekableZstd::open(fd))) {
        return input;
    }
    archive* const reader = input.reader_.get();
    support_formats(reader);
    archive_entry* entry = nullptr;
    const int opened = archive_read_open_fd(reader, fd, block_bytes);
    const int begun = opened == ARCHIVE_OK ? archive_read_next_header(reader, &entry) : opened;
    if (begun == ARCHIVE_EOF) {
        add_problem(problems, path,
                    fmt::format("{} empty, a pcap or pcapng file expected",
                                path == "-" ? "standard input is" : "is"),
                    input.remedy());
        return std::nullopt;
    }
    if (begun != ARCHIVE_OK) {
        const Remedy remedy = remedy_of(archive_errno(reader));
        add_problem(problems, path, fmt::format("cannot be read: {}", said_by(reader)),
                    remedy == Remedy::retry ? remedy : input.remedy());
        return std::nullopt;
    }
    return input;
}

bool CaptureInput::next_block() {
    if (frames_) {
        return next_frame();
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

std::span<const std::byte> CaptureInput::take(std::size_t count) {
    std::span<const std::byte> taken;
    if (count <= block_.size()) {
        taken = block_.first(count);
        block_ = block_.subspan(count);
    } else {
        joined_.assign(block_.begin(), block_.end());
        block_ = {};
        while (joined_.size() < count && next_block()) {
            const std::size_t part = std::min(count - joined_.size(), block_.size());
            joined_.insert(joined_.end(), block_.begin(),
                           block_.begin() + static_cast<std::ptrdiff_t>(part));
            block_ = block_.subspan(part);
        }
        taken = joined_;
    }
    position_ += taken.size();
    return taken;
}

std::span<const std::byte> CaptureInput::peek(std::size_t count) {
    if (count > block_.size()) {
        std::vector<std::byte> all{block_.begin(), block_.end()};
        while (all.size() < count && next_block()) {
            all.insert(all.end(), block_.begin(), block_.end());
        }
        peeked_.swap(all);
        block_ = peeked_;
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
