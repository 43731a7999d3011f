// path: cold
//
// Snapshots: the state of all series in a file beside the segments (README.md). This module knows
// the head and the chunks of such a file. The frames in a chunk are those of the peer protocol,
// which actors/snapshot reads.
#pragma once

#include "config/problem.h"
#include "nic/file_descriptor.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace pinstrike::feed {

inline constexpr std::size_t state_head_bytes = 64;
inline constexpr std::size_t state_chunk_head_bytes = 32;
/// The most bytes of frames in a chunk.
inline constexpr std::size_t state_frames_bytes_max = 1 << 20;

struct StateHead {
    std::string feed;  ///< its name, at most 32 bytes
    std::uint32_t trade_date = 0;
    std::int64_t begin_ns = 0;  ///< wall time at which the books began to give their state

    friend bool operator==(const StateHead&, const StateHead&) = default;
};

/// A chunk without records is the last one.
struct StateChunk {
    std::int64_t end_ns = 0;    ///< wall time after the books gave its records
    std::uint64_t number = 0;   ///< from 0
    std::uint32_t records = 0;  ///< frames in it
    std::uint32_t frames_bytes = 0;
    std::uint32_t checksum = 0;  ///< CRC-32C of the frames
};

[[nodiscard]] std::vector<std::byte> bytes_of(const StateHead& head);

/// Nothing if the bytes do not begin with an undamaged head.
[[nodiscard]] std::optional<StateHead> read_state_head(std::span<const std::byte> bytes);

/// Writes the head of a chunk in front of its frames, which follow it in `chunk`.
void seal_state_chunk(std::span<std::byte> chunk, StateChunk head);

/// Nothing if the bytes do not begin with an undamaged head of a chunk.
[[nodiscard]] std::optional<StateChunk> read_state_chunk(std::span<const std::byte> bytes);

/// FOLDER/STATE-20261129T143000.123456789Z.state, by the time at which it began.
[[nodiscard]] std::string state_path(const std::string& folder, std::int64_t begin_ns);

/// Where the file is written until it is complete.
[[nodiscard]] std::string unfinished_state_path(const std::string& state);

/// The snapshots of a folder from the oldest to the newest, each with its time of begin. A Problem
/// if the folder cannot be read.
struct FoundState {
    std::int64_t begin_ns = 0;
    std::string path;

    friend auto operator<=>(const FoundState&, const FoundState&) = default;
};

[[nodiscard]] std::vector<FoundState> states_in(const std::string& folder, Problems& problems);

/// Removes what a crash left of snapshots.
void remove_unfinished_states(const std::string& folder);

/// The snapshots that are not needed to replay the segments of the folder: those whose packets are
/// not there any more, and most of the older ones.
[[nodiscard]] std::vector<std::string> unneeded_states(const std::string& folder);

/// A snapshot that is open for reading. It reads one chunk at a time.
class StateFile {
  public:
    /// Nothing, with a Problem, if it cannot be read or has no undamaged head.
    [[nodiscard]] static std::optional<StateFile> open(const std::string& path, Problems& problems);

    [[nodiscard]] const StateHead& head() const { return head_; }

    [[nodiscard]] const std::string& path() const { return path_; }

    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

    /// The next chunk; nothing behind the last one, and from the first damaged one on.
    [[nodiscard]] std::optional<StateChunk> next();

    /// The frames of the chunk that next() returned, valid until next(). Empty if they are damaged.
    [[nodiscard]] std::span<const std::byte> frames();

    /// Why the file is damaged; empty: it is not, as far as it was read. After next() returned
    /// nothing it is empty only if the file is complete.
    [[nodiscard]] const std::string& damage() const { return damage_; }

    /// The number of records in the chunks that next() returned.
    [[nodiscard]] std::uint64_t records() const { return records_; }

  private:
    StateFile(std::string path, nic::FileDescriptor file, std::uint64_t bytes)
        : path_(std::move(path)), file_(std::move(file)), bytes_(bytes) {}

    std::optional<StateChunk> fail(const char* what, std::uint64_t at);
    [[nodiscard]] std::span<const std::byte> read(std::uint64_t offset, std::size_t bytes);

    std::string path_;
    nic::FileDescriptor file_;
    std::uint64_t bytes_;
    StateHead head_;
    std::uint64_t next_ = state_head_bytes;  ///< where the next chunk begins
    std::uint64_t chunks_ = 0;
    std::uint64_t records_ = 0;
    StateChunk chunk_;
    bool ended_ = false;
    std::string damage_;
    std::vector<std::byte> buffer_;
};

}  // namespace pinstrike::feed
