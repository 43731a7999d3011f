// path: cold
//
// The index of a segment: a record for each of its chunks, in a file beside it (README.md).
#pragma once

#include "feed/event/block_numbers.h"
#include "feed/recording/segment.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pinstrike::feed {

/// The packets of one interface in a chunk whose blocks are of one session.
struct ChunkLine {
    std::uint16_t interface = 0;
    std::uint8_t session = 0;
    std::uint32_t packets = 0;
    std::uint64_t first = 0;  ///< number of the first message; 0: no packet has numbers
    std::uint64_t last = 0;

    friend bool operator==(const ChunkLine&, const ChunkLine&) = default;
};

struct ChunkRecord {
    std::uint64_t offset = 0;  ///< in the segment
    std::uint32_t bytes = 0;
    std::uint32_t checksum = 0;
    std::uint32_t packets = 0;
    std::uint64_t not_recorded = 0;  ///< packets that are missing before its first
    std::int64_t first_ts_ns = 0;    ///< the earliest and the latest packet
    std::int64_t last_ts_ns = 0;
    std::vector<ChunkLine> lines;

    friend bool operator==(const ChunkRecord&, const ChunkRecord&) = default;
};

/// The record of a chunk that is whole.
[[nodiscard]] ChunkRecord record_of(const nic::ChunkHead& head, std::uint64_t offset,
                                    std::span<const std::byte> chunk, NumbersOf numbers_of);

struct SegmentIndex {
    std::uint64_t first_chunk_at = 0;  ///< the size of the segment's head
    std::vector<ChunkRecord> chunks;   ///< by offset

    /// Where the last chunk ends.
    [[nodiscard]] std::uint64_t end() const;
};

inline constexpr std::string_view compressed_suffix = ".zst";

/// The name of a segment before it was compressed, which its index and its mark keep.
[[nodiscard]] std::string_view plain_path(std::string_view segment);

[[nodiscard]] std::string index_path(const std::string& segment);

void append_index_head(std::vector<std::byte>& out, std::uint64_t first_chunk_at);
void append_record(std::vector<std::byte>& out, const ChunkRecord& record);

/// Nothing if any byte is wrong, or if chunks overlap.
[[nodiscard]] std::optional<SegmentIndex> read_index(std::span<const std::byte> bytes);

/// The earliest packet in the first records of an index, of which `bytes` are the beginning.
/// Nothing if there is no whole record.
[[nodiscard]] std::optional<std::int64_t> first_time_in(std::span<const std::byte> bytes);

/// The index of a segment that is being written: the chunks before which none is missing. Nothing
/// if there is not even a head.
[[nodiscard]] std::optional<SegmentIndex> read_growing_index(std::span<const std::byte> bytes);

}  // namespace pinstrike::feed
