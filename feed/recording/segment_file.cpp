// path: cold
#include "feed/recording/segment_file.h"

#include "config/time_units.h"
#include "config/whole_file.h"
#include "feed/recording/state_file.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace pinstrike::feed {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view suffix = ".pcapng";
constexpr std::string_view kept_suffix = ".keep";
/// An index of a segment of the largest size takes less.
constexpr std::uint64_t index_bytes_max = std::uint64_t{1} << 30;

void add_error(Problems& problems, const std::string& path, const char* what) {
    const int error = errno;
    add_problem(problems, path, fmt::format("{}: {}", what, std::strerror(error)),
                remedy_of(error));
}

std::string kept_mark(const std::string& segment) {
    return fmt::format("{}{}", plain_path(segment), kept_suffix);
}

/// Reads as many bytes as there are.
std::size_t read_at(int fd, std::span<std::byte> into, std::uint64_t offset) {
    std::size_t done = 0;
    while (done < into.size()) {
        const ssize_t got =
            ::pread(fd, into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
        if (got <= 0) {
            break;
        }
        done += static_cast<std::size_t>(got);
    }
    return done;
}

std::uint64_t size_of(int fd) {
    struct stat status {};

    return ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode)
               ? static_cast<std::uint64_t>(status.st_size)
               : 0;
}

}  // namespace

std::string timed_path(const std::string& folder, const std::string& name, std::int64_t wall_ns,
                       std::string_view ending) {
    return fmt::format("{}/{}-{:%Y%m%dT%H%M%S}.{:09}Z{}", folder, name,
                       fmt::gmtime(wall_ns / second_ns), wall_ns % second_ns, ending);
}

std::optional<std::int64_t> time_in_name(const std::string& path) {
    using namespace std::chrono;
    const std::string file = fs::path{path}.filename().string();
    const std::size_t mark = file.rfind('-');
    const std::string text = mark == std::string::npos ? "" : file.substr(mark + 1);
    int year = 0;
    unsigned month = 0;
    unsigned day = 0;
    unsigned hour = 0;
    unsigned minute = 0;
    unsigned second = 0;
    unsigned ns = 0;
    if (std::sscanf(text.c_str(), "%4d%2u%2uT%2u%2u%2u.%9uZ", &year, &month, &day, &hour, &minute,
                    &second, &ns) != 7) {
        return std::nullopt;
    }
    const year_month_day date{std::chrono::year{year}, std::chrono::month{month},
                              std::chrono::day{day}};
    if (!date.ok() || year < 1970 || year > 2200) {  // so that the nanoseconds fit
        return std::nullopt;
    }
    const auto time = sys_days{date}.time_since_epoch() + hours{hour} + minutes{minute} +
                      seconds{second} + nanoseconds{ns};
    return nanoseconds{time}.count();
}

std::string segment_path(const std::string& folder, const std::string& poller,
                         std::int64_t wall_ns) {
    return timed_path(folder, poller, wall_ns, suffix);
}

std::string poller_of(const std::string& segment) {
    const std::string name = fs::path{segment}.filename().string();
    return name.substr(0, name.rfind('-'));
}

std::vector<std::string> segments_in(const std::string& folder, Problems& problems) {
    std::vector<std::string> found;
    std::error_code error;
    for (fs::directory_iterator entry{folder, error}; !error && entry != fs::directory_iterator{};
         entry.increment(error)) {
        const std::string path = entry->path().string();
        if (plain_path(path).ends_with(suffix)) {
            found.push_back(path);
        }
    }
    if (error) {
        add_problem(problems, folder, fmt::format("the folder cannot be read: {}", error.message()),
                    remedy_of(error.value()));
    }
    std::sort(found.begin(), found.end());
    // A segment and its compressed form are side by side, in this order.
    const auto is_compressed_next = [](const std::string& one, const std::string& next) {
        return plain_path(next) == one;
    };
    for (auto at = std::ranges::adjacent_find(found, is_compressed_next); at != found.end();
         at = std::ranges::adjacent_find(found, is_compressed_next)) {
        found.erase(at);
    }
    return found;
}

std::string segment_to_remove(const std::string& folder, const KeepLimits& limits) {
    struct Candidate {
        std::int64_t written_ns = 0;
        std::string path;
        auto operator<=>(const Candidate&) const = default;
    };

    Problems unread;
    std::vector<Candidate> candidates;
    std::uint64_t bytes = 0;
    for (const std::string& path : segments_in(folder, unread)) {
        struct stat status {};

        const nic::FileDescriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
        if (!file.valid() || ::fstat(file.get(), &status) != 0) {
            continue;
        }
        bytes += static_cast<std::uint64_t>(status.st_size);
        if (!is_kept(path) && !limits.left_out.contains(path) &&
            ::flock(file.get(), LOCK_SH | LOCK_NB) == 0) {
            candidates.push_back(
                {status.st_mtim.tv_sec * std::int64_t{1'000'000'000} + status.st_mtim.tv_nsec,
                 path});
        }
    }
    for (const FoundState& state : states_in(folder, unread)) {
        std::error_code gone;
        const std::uintmax_t state_bytes = fs::file_size(state.path, gone);
        bytes += gone ? 0 : state_bytes;
    }
    const auto oldest = std::min_element(candidates.begin(), candidates.end());
    if (oldest == candidates.end()) {
        return {};
    }
    std::error_code error;
    const auto space = fs::space(folder, error);
    const bool full = !error && space.available < limits.free_bytes;
    const bool beyond = full || (limits.bytes != 0 && bytes > limits.bytes) ||
                        oldest->written_ns < limits.oldest_ns;
    return beyond ? oldest->path : "";
}

bool remove_segment(const std::string& path) {
    std::error_code error;
    fs::remove(path, error);
    if (error) {
        errno = error.value();
        return false;
    }
    fs::remove(plain_path(path), error);
    fs::remove(index_path(path), error);
    return true;
}

bool mark_kept(const std::string& path, bool kept) {
    const std::string mark = kept_mark(path);
    if (!kept) {
        return ::unlink(mark.c_str()) == 0 || errno == ENOENT;
    }
    return nic::FileDescriptor{::open(mark.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0640)}.valid();
}

bool is_kept(const std::string& path) {
    return ::access(kept_mark(path).c_str(), F_OK) == 0;
}

std::optional<SegmentFile> SegmentFile::open(const std::string& path, Problems& problems) {
    nic::FileDescriptor descriptor{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    if (!descriptor.valid()) {
        add_error(problems, path, "cannot be opened");
        return std::nullopt;
    }
    const std::uint64_t bytes = size_of(descriptor.get());
    SegmentFile file{path, std::move(descriptor), bytes};
    if (plain_path(path) != path) {
        file.frames_ = nic::SeekableZstd::open(file.file_.get());
        file.bytes_ = file.frames_ ? file.frames_->bytes() : 0;
    }
    auto head = read_head(file.read(0));
    if (!head) {
        add_problem(problems, path, "is not a segment of a recording, or its head is damaged");
        return std::nullopt;
    }
    file.head_ = std::move(*head);
    return file;
}

std::span<const std::byte> SegmentFile::read(std::uint64_t offset) {
    if (frames_) {
        return frames_->read(offset);
    }
    const std::uint64_t left = offset < bytes_ ? bytes_ - offset : 0;
    buffer_.resize(std::min<std::uint64_t>(left, nic::chunk_bytes_max));
    return std::span{buffer_}.first(read_at(file_.get(), buffer_, offset));
}

/// The first bytes, at most `most`. Empty if they cannot be read.
std::vector<std::byte> SegmentFile::index_bytes(std::uint64_t most) const {
    const nic::FileDescriptor file{::open(index_path(path_).c_str(), O_RDONLY | O_CLOEXEC)};
    const std::uint64_t bytes = file.valid() ? size_of(file.get()) : 0;
    std::vector<std::byte> content(bytes > index_bytes_max ? 0 : std::min(bytes, most));
    return read_at(file.get(), content, 0) == content.size() ? content : std::vector<std::byte>{};
}

std::optional<std::int64_t> SegmentFile::first_time() const {
    constexpr std::uint64_t beginning_bytes = 16 << 10;  // the first record of 300 lines
    return first_time_in(index_bytes(beginning_bytes));
}

std::optional<SegmentIndex> SegmentFile::growing_index() const {
    auto index = read_growing_index(index_bytes(index_bytes_max));
    const bool fits = index && index->first_chunk_at == head_.bytes;
    return fits ? std::move(index) : std::nullopt;
}

std::optional<SegmentIndex> SegmentFile::index() const {
    auto index = read_index(index_bytes(index_bytes_max));
    const bool fits = index && index->first_chunk_at == head_.bytes && index->end() == bytes_;
    return fits ? std::move(index) : std::nullopt;
}

SegmentIndex SegmentFile::beginning() const {
    SegmentIndex index = growing_index().value_or(SegmentIndex{});
    index.first_chunk_at = head_.bytes;
    std::erase_if(index.chunks,
                  [this](const ChunkRecord& chunk) { return chunk.offset + chunk.bytes > bytes_; });
    return index;
}

bool SegmentFile::is_being_written() const {
    const bool locked = ::flock(file_.get(), LOCK_SH | LOCK_NB) != 0;
    static_cast<void>(::flock(file_.get(), LOCK_UN));
    return locked;
}

bool SegmentScan::step() {
    chunk_ = {};
    const auto chunk = file_.read(at_);
    if (chunk.empty()) {
        if (at_ < file_.bytes()) {  // the disk cannot read here
            add_damaged(file_.bytes() - at_);
        }
        return false;
    }
    const auto head = nic::load_chunk_head(chunk);
    if (!head) {
        std::size_t next = nic::chunk_alignment_bytes;
        while (next < chunk.size() && !nic::load_chunk_head(chunk.subspan(next))) {
            next += nic::chunk_alignment_bytes;
        }
        add_damaged(std::min(next, chunk.size()));
        return true;
    }
    const auto bytes = chunk.first(std::min<std::size_t>(head->bytes, chunk.size()));
    if (nic::is_whole(*head, chunk)) {
        index_.chunks.push_back(record_of(*head, at_, bytes, numbers_of_));
        at_ += head->bytes;
        chunk_ = bytes;
    } else {
        add_damaged(bytes.size());
    }
    return true;
}

/// Ranges that adjoin are one.
void SegmentScan::add_damaged(std::uint64_t bytes) {
    if (!damaged_.empty() && damaged_.back().offset + damaged_.back().bytes == at_) {
        damaged_.back().bytes += bytes;
    } else {
        damaged_.push_back({at_, bytes});
    }
    at_ += bytes;
}

/// The chunk of the whole blocks behind the last whole chunk, if the file ends within a chunk.
/// Empty if there are none.
std::vector<std::byte> SegmentScan::whole_blocks_of_last() {
    const auto found = file_.read(index_.end());
    auto head = nic::load_chunk_head(found);
    if (!head || head->bytes <= found.size()) {
        return {};
    }
    ChunkPackets packets{found};
    std::uint32_t count = 0;
    while (packets.next()) {
        ++count;
    }
    std::vector<std::byte> chunk(nic::chunk_bytes_max);
    std::copy(found.begin(), found.end(), chunk.begin());
    head->packets = count;
    chunk.resize(seal_chunk(chunk, packets.whole_bytes(), *head).bytes);
    return count == 0 ? std::vector<std::byte>{} : chunk;
}

/// Writes the last chunk and cuts the segment behind it, which also gives back the space that was
/// reserved for it. False, with errno: it could not.
bool SegmentScan::cut_behind(std::span<const std::byte> last, std::uint64_t last_at) const {
    const nic::FileDescriptor file{::open(file_.path().c_str(), O_WRONLY | O_CLOEXEC)};
    return file.valid() &&
           ::pwrite(file.get(), last.data(), last.size(), static_cast<off_t>(last_at)) ==
               static_cast<ssize_t>(last.size()) &&
           ::ftruncate(file.get(), static_cast<off_t>(index_.end())) == 0 &&
           ::fsync(file.get()) == 0;
}

std::string SegmentScan::repair(Problems& problems) {
    const std::string& path = file_.path();
    const std::vector<std::byte> last = whole_blocks_of_last();
    const std::uint64_t last_at = index_.end();
    if (!last.empty()) {
        index_.chunks.push_back(record_of(*nic::load_chunk_head(last), last_at, last, numbers_of_));
    }
    if (index_.chunks.empty()) {
        if (!remove_segment(path)) {
            add_error(problems, path, "cannot be removed, although it has no packet");
            return {};
        }
        return fmt::format("{}: removed, because it has no packet", path);
    }
    if (!file_.is_compressed() && !cut_behind(last, last_at)) {
        add_error(problems, path, "cannot be repaired");
        return {};
    }
    std::vector<std::byte> bytes;
    append_index_head(bytes, index_.first_chunk_at);
    for (const ChunkRecord& chunk : index_.chunks) {
        append_record(bytes, chunk);
    }
    const std::string index = index_path(path);
    if (!write_whole(index, [&](std::FILE* to) {
            return std::fwrite(bytes.data(), 1, bytes.size(), to) == bytes.size();
        })) {
        add_error(problems, index, "cannot be written");
        return {};
    }
    std::uint64_t missing = 0;
    for (const DamagedBytes& damage : damaged_) {
        missing += damage.bytes;
    }
    missing -= std::min<std::uint64_t>(missing, last.size());
    return fmt::format(
        "{}: index made for {} chunks, up to byte {}; missing: {} bytes in {} places", path,
        index_.chunks.size(), index_.end(), missing, damaged_.size());
}

}  // namespace pinstrike::feed
