// path: cold
//
// The chunks of a recording (feed/recording/README.md has the whole format). A chunk is a run of
// whole pcapng blocks. Its first block, the head, states the size and the checksum of the chunk. So
// a reader notices a damaged chunk, and finds the next one at a multiple of the alignment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace pinstrike::nic {

inline constexpr std::size_t chunk_bytes_max = 1 << 20;
inline constexpr std::size_t chunk_alignment_bytes = 4096;
inline constexpr std::size_t chunk_head_bytes = 64;
/// In front of a chunk's packets: its head, and statistics with a comment.
inline constexpr std::size_t space_before_packets_bytes = chunk_head_bytes + 128;
/// Behind the packets: a block that fills the chunk.
inline constexpr std::size_t space_behind_packets_bytes = 16;

/// The type of the blocks that only this program reads. It is one of those for local use, so other
/// programs skip these blocks. (Wireshark lists custom blocks, 0xBAD, among the packets.)
inline constexpr std::uint32_t pcapng_local_block = 0x8043'4850;

struct ChunkHead {
    std::uint32_t bytes = 0;         ///< of the chunk: a multiple of the alignment
    std::uint32_t checksum = 0;      ///< CRC-32C of its bytes behind the head
    std::uint32_t packets = 0;       ///< recorded in it
    std::uint64_t number = 0;        ///< within the segment, from 0
    std::uint64_t not_recorded = 0;  ///< packets that arrived before its first and are missing
};

/// CRC-32C (Castagnoli), as iSCSI and ext4 use it.
[[nodiscard]] std::uint32_t crc32c(std::span<const std::byte> bytes) noexcept;

void store_chunk_head(std::span<std::byte, chunk_head_bytes> to, const ChunkHead& head) noexcept;

/// The head at the beginning of `bytes`. Nothing if there is none, or if it is damaged.
[[nodiscard]] std::optional<ChunkHead> load_chunk_head(std::span<const std::byte> bytes) noexcept;

/// Whether `bytes` begin with the whole chunk of this head, undamaged.
[[nodiscard]] bool is_whole(const ChunkHead& head, std::span<const std::byte> bytes) noexcept;

}  // namespace pinstrike::nic
