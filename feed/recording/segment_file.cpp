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
#include <utility>

namespace pinstrike::feed {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view suffix = ".pcapng";
constexpr std::string_view kept_suffix = ".keep";
/// An index of a segment of the largest size takes less.
constexpr std::uint64_t index_bytes_max = std::uint64_t{1} << 30;

std::string kept_mark(const std::string& segment) {
    return fmt::format("{}{}", plain_path(segment), kept_suffix);
}

std::vector<std::string> captures_in(const std::string& folder, std::error_code& error) {
    return files_in(folder, {suffix, ".pcapng.zst"}, error);
}

nic::FileDescriptor open_folder(const fs::path& folder) {
    return nic::FileDescriptor{
        ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
}

std::uint64_t size_of(int fd) {
    struct stat status {};

    return ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode)
               ? static_cast<std::uint64_t>(status.st_size)
               : 0;
}

}  // namespace

void add_error(Problems& problems, const std::string& path, const char* what, int error) {
    add_problem(problems, path, fmt::format("{}: {}", what, std::strerror(error)),
                remedy_of(error));
}

std::vector<std::string> files_in(const std::string& folder,
                                  std::initializer_list<std::string_view> endings,
                                  std::error_code& error) {
    std::vector<std::string> found;
    for (fs::directory_iterator entry{folder, error}; !error && entry != fs::directory_iterator{};
         entry.increment(error)) {
        const std::string path = entry->path().string();
        if (std::ranges::any_of(endings, [&](auto ending) { return path.ends_with(ending); })) {
            found.push_back(path);
        }
    }
    std::sort(found.begin(), found.end());
    return found;
}

ReadBytes read_at(int fd, std::span<std::byte> into, std::uint64_t offset) {
    ReadBytes done;
    while (done.count < into.size()) {
        const ssize_t got = ::pread(fd, into.data() + done.count, into.size() - done.count,
                                    static_cast<off_t>(offset + done.count));
        if (got <= 0) {
            done.failed = got < 0;
            break;
        }
        done.count += static_cast<std::size_t>(got);
    }
    return done;
}

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

bool is_segment(const std::string& path) {
    const auto wall_ns = time_in_name(path);
    return wall_ns && fs::path{segment_path("", poller_of(path), *wall_ns)}.filename() ==
                          fs::path{plain_path(path)}.filename();
}

std::vector<std::string> segments_in(const std::string& folder, Problems& problems) {
    std::error_code error;
    std::vector<std::string> found = captures_in(folder, error);
    if (error) {
        add_error(problems, folder, "the folder cannot be read", error.value());
    }
    std::erase_if(found, [](const std::string& path) { return !is_segment(path); });
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

std::vector<std::string> foreign_captures_in(const std::string& folder) {
    std::error_code unread;
    std::vector<std::string> found = captures_in(folder, unread);
    std::erase_if(found, is_segment);
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

        if (::stat(path.c_str(), &status) != 0) {
            continue;
        }
        bytes += static_cast<std::uint64_t>(status.st_size);
        if (!is_kept(path) && !limits.unremovable.contains(path)) {
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
    std::sort(candidates.begin(), candidates.end());
    std::error_code error;
    const auto space = fs::space(folder, error);
    const bool full = !error && space.available < limits.free_bytes;
    const bool beyond = full || (limits.bytes != 0 && bytes > limits.bytes);
    for (const Candidate& oldest : candidates) {
        if (!beyond && oldest.written_ns >= limits.oldest_ns) {
            break;
        }
        const nic::FileDescriptor file{::open(oldest.path.c_str(), O_RDONLY | O_CLOEXEC)};
        if (file.valid() && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0) {
            return oldest.path;
        }
    }
    return {};
}

bool remove_segment(const std::string& path) {
    std::error_code error;
    const std::string plain{plain_path(path)};
    for (const std::string& form : {plain, plain + std::string{compressed_suffix}}) {
        fs::remove(form, error);
        if (error) {
            errno = error.value();
            return false;
        }
    }
    fs::remove(index_path(path), error);
    return true;
}

std::string remove_headless(const std::string& path) {
    struct stat status {};

    const nic::FileDescriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    if (!file.valid() || plain_path(path) != path || is_kept(path) ||
        ::fstat(file.get(), &status) != 0 ||
        static_cast<std::uint64_t>(status.st_size) > nic::chunk_bytes_max) {
        return {};
    }
    std::vector<std::byte> bytes(static_cast<std::size_t>(status.st_size));
    if (read_at(file.get(), bytes, 0).count != bytes.size() ||
        ::flock(file.get(), LOCK_EX | LOCK_NB) != 0 || read_head(bytes)) {
        return {};
    }
    for (std::size_t at = 0; at < bytes.size(); at += nic::chunk_alignment_bytes) {
        if (nic::load_chunk_head(std::span{bytes}.subspan(at))) {
            return {};  // its head is damaged
        }
    }
    if (!remove_segment(path)) {
        return {};
    }
    return fmt::format("{}: removed, because its head was not written", path);
}

bool mark_kept(const std::string& path, bool kept) {
    const std::string mark = kept_mark(path);
    if (!kept) {
        return ::unlink(mark.c_str()) == 0 || errno == ENOENT;
    }
    const nic::FileDescriptor folder = open_folder(fs::path{path}.parent_path());
    while (::flock(folder.get(), LOCK_SH) != 0 && errno == EINTR) {
    }
    const std::string plain{plain_path(path)};
    if (::access(plain.c_str(), F_OK) != 0 &&
        ::access((plain + std::string{compressed_suffix}).c_str(), F_OK) != 0) {
        return false;
    }
    return nic::FileDescriptor{::open(mark.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0640)}.valid();
}

/// A file system without such locks does not keep segments from being removed.
std::optional<nic::FileDescriptor> lock_marks(const std::string& folder) {
    nic::FileDescriptor locked = open_folder(folder);
    if (::flock(locked.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        return std::nullopt;
    }
    return locked;
}

bool is_kept(const std::string& path) {
    return ::access(kept_mark(path).c_str(), F_OK) == 0;
}

std::optional<SegmentFile> SegmentFile::open(const std::string& path, Problems& problems) {
    std::string name = path;
    nic::FileDescriptor descriptor{::open(name.c_str(), O_RDONLY | O_CLOEXEC)};
    if (!descriptor.valid() && errno == ENOENT && plain_path(path) == path) {
        name += compressed_suffix;
        descriptor = nic::FileDescriptor{::open(name.c_str(), O_RDONLY | O_CLOEXEC)};
    }
    if (!descriptor.valid()) {
        add_error(problems, path, "cannot be opened", errno);
        return std::nullopt;
    }
    const std::uint64_t bytes = size_of(descriptor.get());
    SegmentFile file{name, std::move(descriptor), bytes};
    if (plain_path(name) != name) {
        file.frames_ = nic::SeekableZstd::open(file.file_.get());
        file.bytes_ = file.frames_ ? file.frames_->bytes() : 0;
    }
    auto head = read_head(file.read(0));
    if (!head) {
        add_problem(problems, path, "is not a segment of a recording, or its head is damaged");
        return std::nullopt;
    }
    file.head_ = std::move(*head);
    file.buffer_ = {};  // many may be open
    // A recorder locks its segment before it writes the head, so this never keeps one from it.
    static_cast<void>(file.is_being_written());
    return file;
}

std::span<const std::byte> SegmentFile::read(std::uint64_t offset) {
    if (frames_) {
        const std::uint64_t unread_before = frames_->unread();
        const std::span<const std::byte> bytes = frames_->read(offset);
        read_failed_ = frames_->unread() != unread_before;
        return bytes;
    }
    const std::uint64_t left = offset < bytes_ ? bytes_ - offset : 0;
    buffer_.resize(std::min<std::uint64_t>(left, nic::chunk_bytes_max));
    ReadBytes done = read_at(file_.get(), buffer_, offset);
    read_failed_ = done.failed;
    if (read_failed_) {  // a scan goes on at a place where a chunk can begin
        done.count -= done.count % nic::chunk_alignment_bytes;
    }
    return std::span{buffer_}.first(done.count);
}

/// The first bytes, at most `most`. Empty if they cannot be read.
std::vector<std::byte> SegmentFile::index_bytes(std::uint64_t most) const {
    const nic::FileDescriptor file{::open(index_path(path_).c_str(), O_RDONLY | O_CLOEXEC)};
    const std::uint64_t bytes = file.valid() ? size_of(file.get()) : 0;
    std::vector<std::byte> content(bytes > index_bytes_max ? 0 : std::min(bytes, most));
    return read_at(file.get(), content, 0).count == content.size() ? content
                                                                   : std::vector<std::byte>{};
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
    return ::flock(file_.get(), LOCK_SH | LOCK_NB) != 0;
}

std::optional<DamagedBytes> hole_before(std::span<const ChunkRecord> chunks, std::size_t index,
                                        std::uint64_t first_chunk_at) {
    const std::uint64_t end =
        index == 0 ? first_chunk_at : chunks[index - 1].offset + chunks[index - 1].bytes;
    const std::uint64_t begin = chunks[index].offset;
    return begin > end ? std::optional{DamagedBytes{end, begin - end}} : std::nullopt;
}

bool SegmentScan::step() {
    chunk_ = {};
    const auto chunk = file_.read(at_);
    reads_failed_ = reads_failed_ || file_.read_failed();
    if (chunk.empty()) {
        const std::uint64_t left = at_ < file_.bytes() ? file_.bytes() - at_ : 0;
        if (left != 0) {  // the disk cannot read here, or the file was cut meanwhile
            add_damaged(file_.read_failed()
                            ? std::min<std::uint64_t>(left, nic::chunk_alignment_bytes)
                            : left);
        }
        return left != 0 && file_.read_failed();
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
    std::size_t used_bytes = 0;
    while (packets.next() &&
           packets.whole_bytes() + nic::space_behind_packets_bytes <= nic::chunk_bytes_max) {
        ++count;
        used_bytes = packets.whole_bytes();
    }
    std::vector<std::byte> chunk(nic::chunk_bytes_max);
    std::copy(found.begin(), found.end(), chunk.begin());
    head->packets = count;
    chunk.resize(seal_chunk(chunk, used_bytes, *head).bytes);
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
    const bool may_cut = !file_.is_compressed() && !reads_failed_ && !is_kept(path);
    if (reads_failed_ && (index_.chunks.empty() || file_.index())) {
        return fmt::format("{}: the disk cannot read all of it; left as it is", path);
    }
    const std::vector<std::byte> last = may_cut ? whole_blocks_of_last() : std::vector<std::byte>{};
    const std::uint64_t last_at = index_.end();
    if (!last.empty()) {
        index_.chunks.push_back(record_of(*nic::load_chunk_head(last), last_at, last, numbers_of_));
    }
    if (index_.chunks.empty() && may_cut) {
        if (!remove_segment(path)) {
            add_error(problems, path, "cannot be removed, although it has no packet", errno);
            return {};
        }
        return fmt::format("{}: removed, because it has no packet", path);
    }
    if (index_.chunks.empty()) {
        return fmt::format("{}: no packet of it can be read; left as it is", path);
    }
    if (may_cut && !cut_behind(last, last_at)) {
        add_error(problems, path, "cannot be repaired", errno);
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
        add_error(problems, index, "cannot be written", errno);
        return {};
    }
    std::uint64_t missing = 0;
    for (const DamagedBytes& damage : damaged_) {
        missing += damage.bytes;
    }
    missing -= std::min<std::uint64_t>(missing, last.size());
    return fmt::format(
        "{}: index made for {} chunks, up to byte {}; missing: {} bytes in {} places{}", path,
        index_.chunks.size(), index_.end(), missing, damaged_.size(),
        reads_failed_ ? " (the disk cannot read all of it)" : "");
}

}  // namespace pinstrike::feed
