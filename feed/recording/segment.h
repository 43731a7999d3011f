// path: cold
//
// The bytes of a segment: a head that names the interfaces, then chunks (README.md).
#pragma once

#include "feed/event/block.h"
#include "nic/capture/recording_chunk.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pinstrike::feed {

/// Where packets of a recording came from.
struct RecordedInterface {
    std::uint16_t line = 0;  ///< 0: packets of no line
    Stream stream = Stream::a;
    bool repaired = false;  ///< blocks of the line that recovery got from a peer

    [[nodiscard]] std::string name() const;

    friend bool operator==(const RecordedInterface&, const RecordedInterface&) = default;
};

struct SegmentHead {
    std::string feed;
    std::string poller;
    std::vector<RecordedInterface> interfaces;
};

/// A piece of memory for writes that pass the page cache: it has the alignment of chunks.
struct alignas(nic::chunk_alignment_bytes) Page {
    std::byte bytes[nic::chunk_alignment_bytes];
};

/// The interfaces of a poller with these lines, in the order of their numbers.
[[nodiscard]] std::vector<RecordedInterface> interfaces_of(std::span<const std::uint16_t> lines);

/// The first bytes of a segment, a multiple of the chunks' alignment.
[[nodiscard]] std::vector<std::byte> bytes_of(const SegmentHead& head);

/// A segment's head and its size. Nothing if the bytes are not the head of a recording.
struct ReadHead {
    std::vector<RecordedInterface> interfaces;
    std::size_t bytes = 0;
};

[[nodiscard]] std::optional<ReadHead> read_head(std::span<const std::byte> segment);

/// What the recorder states of a chunk.
struct ChunkFacts {
    std::int64_t first_ts_ns = 0;
    std::uint64_t received = 0;             ///< since the start, up to the first packet
    std::uint64_t filtered = 0;             ///< of received: the config does not want them
    std::uint64_t not_recorded = 0;         ///< of received: the recorder had no memory for them
    std::uint64_t not_recorded_before = 0;  ///< of not_recorded: since the chunk before
};

/// Writes the statistics of a chunk in front of its packets.
void write_statistics(std::span<std::byte> chunk, const ChunkFacts& facts);

/// Fills a chunk, of which `used_bytes` are written, up to a multiple of the alignment and writes
/// its head. Returns the head. The buffer has space for chunk_bytes_max.
nic::ChunkHead seal_chunk(std::span<std::byte> chunk, std::size_t used_bytes, nic::ChunkHead head);

/// The payload of a frame; nothing if it holds no UDP datagram.
[[nodiscard]] std::optional<std::span<const std::byte>> payload_of(
    std::span<const std::byte> frame);

struct RecordedPacket {
    std::uint32_t interface = 0;
    std::int64_t ts_ns = 0;
    std::span<const std::byte> frame;
};

/// Reads the packets of a chunk in order. It stops at the first block that is not whole.
class ChunkPackets {
  public:
    explicit ChunkPackets(std::span<const std::byte> chunk) : chunk_(chunk) {}

    [[nodiscard]] std::optional<RecordedPacket> next();

    /// The end of the last whole block that was read.
    [[nodiscard]] std::size_t whole_bytes() const { return whole_bytes_; }

  private:
    std::span<const std::byte> chunk_;
    std::size_t whole_bytes_ = 0;
};

}  // namespace pinstrike::feed
