// path: cold
#include "feed/recording/state_file.h"

#include "config/check.h"
#include "config/limits.h"
#include "feed/event/cursor.h"
#include "feed/recording/segment_file.h"
#include "nic/capture/recording_chunk.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>

namespace pinstrike::feed {

namespace {

constexpr std::uint64_t state_magic =
    0x3145544154535350;                            // "PSSTATE1": the last digit is the version
constexpr std::uint32_t chunk_magic = 0x4B484353;  // "SCHK"
constexpr std::string_view state_suffix = ".state";
constexpr std::string_view unfinished_suffix = ".unfinished";
/// The time of a snapshot may be so far behind the last write to the segment with its packets,
/// because the poller got no packets.
constexpr std::int64_t behind_segment_ns_max = 600'000'000'000;
/// The packets of a segment may have waited so long in memory before it was begun.
constexpr std::int64_t before_segment_ns_max = 2'000'000'000;
/// Of the older snapshots, one for each interval of this length is kept.
constexpr std::int64_t kept_interval_ns = 600'000'000'000;
/// Of the newest, as many are kept, in case that the last one is damaged.
constexpr std::size_t newest_kept = 2;

template <class T>
void put(std::span<std::byte> into, std::size_t at, T value) {
    std::memcpy(into.data() + at, &value, sizeof value);
}

/// The times between which a segment was written.
struct Written {
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
};

std::vector<Written> written_times(const std::string& folder) {
    std::vector<Written> times;
    Problems unread;
    for (const std::string& path : segments_in(folder, unread)) {
        struct stat status {};

        const auto begin_ns = time_in_name(path);
        if (begin_ns && ::stat(path.c_str(), &status) == 0) {
            times.push_back({*begin_ns, status.st_mtim.tv_sec * std::int64_t{1'000'000'000} +
                                            status.st_mtim.tv_nsec});
        }
    }
    return times;
}

}  // namespace

std::vector<std::byte> bytes_of(const StateHead& head) {
    PINSTRIKE_CHECK(head.feed.size() <= name_bytes_max);
    std::vector<std::byte> bytes(state_head_bytes);
    put(bytes, 0, state_magic);
    put(bytes, 8, head.begin_ns);
    put(bytes, 16, head.trade_date);
    put(bytes, 20, static_cast<std::uint32_t>(head.feed.size()));
    std::memcpy(bytes.data() + 24, head.feed.data(), head.feed.size());
    put(bytes, state_head_bytes - 4, nic::crc32c(std::span{bytes}.first(state_head_bytes - 4)));
    return bytes;
}

std::optional<StateHead> read_state_head(std::span<const std::byte> bytes) {
    if (bytes.size() < state_head_bytes) {
        return std::nullopt;
    }
    Cursor cursor{bytes.first(state_head_bytes)};
    StateHead head;
    const auto begin = *cursor.take_little<std::uint64_t>();
    head.begin_ns = *cursor.take_little<std::int64_t>();
    head.trade_date = *cursor.take_little<std::uint32_t>();
    const auto name_bytes = *cursor.take_little<std::uint32_t>();
    const auto name = *cursor.take(name_bytes_max);
    static_cast<void>(cursor.take(4));
    const auto checksum = *cursor.take_little<std::uint32_t>();
    if (begin != state_magic || name_bytes > name_bytes_max ||
        checksum != nic::crc32c(bytes.first(state_head_bytes - 4))) {
        return std::nullopt;
    }
    head.feed.resize(name_bytes);
    std::memcpy(head.feed.data(), name.data(), name_bytes);
    return head;
}

void seal_state_chunk(std::span<std::byte> chunk, StateChunk head) {
    PINSTRIKE_CHECK(chunk.size() >= state_chunk_head_bytes);
    const auto frames = chunk.subspan(state_chunk_head_bytes);
    PINSTRIKE_CHECK(frames.size() <= state_frames_bytes_max);
    put(chunk, 0, chunk_magic);
    put(chunk, 4, static_cast<std::uint32_t>(frames.size()));
    put(chunk, 8, head.end_ns);
    put(chunk, 16, static_cast<std::uint32_t>(head.number));
    put(chunk, 20, head.records);
    put(chunk, 24, nic::crc32c(frames));
    put(chunk, 28, nic::crc32c(chunk.first(state_chunk_head_bytes - 4)));
}

std::optional<StateChunk> read_state_chunk(std::span<const std::byte> bytes) {
    if (bytes.size() < state_chunk_head_bytes) {
        return std::nullopt;
    }
    Cursor cursor{bytes.first(state_chunk_head_bytes)};
    StateChunk chunk;
    const auto begin = *cursor.take_little<std::uint32_t>();
    chunk.frames_bytes = *cursor.take_little<std::uint32_t>();
    chunk.end_ns = *cursor.take_little<std::int64_t>();
    chunk.number = *cursor.take_little<std::uint32_t>();
    chunk.records = *cursor.take_little<std::uint32_t>();
    chunk.checksum = *cursor.take_little<std::uint32_t>();
    const auto checksum = *cursor.take_little<std::uint32_t>();
    const bool good = begin == chunk_magic && chunk.frames_bytes <= state_frames_bytes_max &&
                      (chunk.records == 0) == (chunk.frames_bytes == 0) &&
                      checksum == nic::crc32c(bytes.first(state_chunk_head_bytes - 4));
    return good ? std::optional{chunk} : std::nullopt;
}

std::string state_path(const std::string& folder, std::int64_t begin_ns) {
    return timed_path(folder, "STATE", begin_ns, state_suffix);
}

std::string unfinished_state_path(const std::string& state) {
    return state + std::string{unfinished_suffix};
}

std::vector<FoundState> states_in(const std::string& folder, Problems& problems) {
    std::error_code error;
    std::vector<FoundState> found;
    for (std::string& path : files_in(folder, {state_suffix}, error)) {
        if (const auto begin_ns = time_in_name(path)) {
            found.push_back({*begin_ns, std::move(path)});
        }
    }
    if (error) {
        add_error(problems, folder, "the folder cannot be read", error.value());
    }
    std::sort(found.begin(), found.end());
    return found;
}

void remove_unfinished_states(const std::string& folder) {
    std::error_code error;
    const std::string ending = std::string{state_suffix} + std::string{unfinished_suffix};
    for (const std::string& path : files_in(folder, {ending}, error)) {
        static_cast<void>(::unlink(path.c_str()));
    }
}

std::vector<std::string> unneeded_states(const std::string& folder) {
    std::vector<std::string> unneeded;
    Problems unread;
    const std::vector<FoundState> states = states_in(folder, unread);
    const std::vector<Written> segments = written_times(folder);
    const auto has_packets = [&](std::int64_t begin_ns) {
        return std::any_of(segments.begin(), segments.end(), [&](const Written& segment) {
            return segment.begin_ns <= begin_ns + before_segment_ns_max &&
                   begin_ns <= segment.end_ns + behind_segment_ns_max;
        });
    };
    std::int64_t interval = INT64_MIN;  // that of the latest snapshot that is kept
    for (std::size_t i = 0; i < states.size(); ++i) {
        const std::int64_t its_interval = states[i].begin_ns / kept_interval_ns;
        const bool newest = i + newest_kept >= states.size();
        if (has_packets(states[i].begin_ns) && (newest || its_interval != interval)) {
            interval = its_interval;
        } else {
            unneeded.push_back(states[i].path);
        }
    }
    return unneeded;
}

std::optional<StateFile> StateFile::open(const std::string& path, Problems& problems) {
    nic::FileDescriptor descriptor{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};

    struct stat status {};

    if (!descriptor.valid() || ::fstat(descriptor.get(), &status) != 0) {
        add_error(problems, path, "cannot be opened", errno);
        return std::nullopt;
    }
    StateFile file{path, std::move(descriptor),
                   S_ISREG(status.st_mode) ? static_cast<std::uint64_t>(status.st_size) : 0};
    auto head = read_state_head(file.read(0, state_head_bytes));
    if (!head) {
        add_problem(problems, path, "is no snapshot of a recording, or its head is damaged");
        return std::nullopt;
    }
    file.head_ = std::move(*head);
    return file;
}

std::optional<StateChunk> StateFile::next() {
    if (ended_ || !damage_.empty()) {
        return std::nullopt;
    }
    const auto chunk = read_state_chunk(read(next_, state_chunk_head_bytes));
    if (!chunk || chunk->number != chunks_ ||
        next_ + state_chunk_head_bytes + chunk->frames_bytes > bytes_) {
        return fail(next_ == bytes_ ? "its end is missing" : "is damaged", next_);
    }
    chunk_ = *chunk;
    next_ += state_chunk_head_bytes + chunk->frames_bytes;
    ++chunks_;
    records_ += chunk->records;
    if (chunk->records == 0) {
        ended_ = true;
        return next_ == bytes_ ? std::nullopt : fail("has bytes behind its end", next_);
    }
    return chunk_;
}

std::span<const std::byte> StateFile::frames() {
    const std::uint64_t at = next_ - chunk_.frames_bytes;
    const auto found = read(at, chunk_.frames_bytes);
    if (found.size() != chunk_.frames_bytes || nic::crc32c(found) != chunk_.checksum) {
        static_cast<void>(fail("is damaged", at));
        return {};
    }
    return found;
}

std::optional<StateChunk> StateFile::fail(const char* what, std::uint64_t at) {
    damage_ = fmt::format("{}: {}, from byte {} on", path_, what, at);
    return std::nullopt;
}

/// Fewer bytes at the end of the file, and if the disk cannot read them.
std::span<const std::byte> StateFile::read(std::uint64_t offset, std::size_t bytes) {
    buffer_.resize(bytes);
    return std::span{buffer_}.first(read_at(file_.get(), buffer_, offset).count);
}

}  // namespace pinstrike::feed
