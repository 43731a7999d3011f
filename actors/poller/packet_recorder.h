// path: hot
//
// The poller's part of the recorder: copies each received frame once, with its receive time, into
// the open chunk of a recording (feed/recording/README.md). A full chunk goes to the recorder's
// thread through one ring, and comes back through another when it is on disk. ring.h explains the
// memory orders; they also hold for the chunk's bytes, which each thread writes only while it has
// the chunk. The poller never waits: if it has no chunk, the packet is not recorded and counted.
// Packets that the config does not want are filtered, so recorded + not recorded + filtered =
// received. The poller takes the chunk that came back last, which is the most likely one to be in a
// cache.
//
// The functions are not inline, because then the compiler would inline less of the fast path.
#pragma once

#include "actors/poller/record_filter.h"
#include "actors/threads/ring.h"
#include "config/counter.h"
#include "feed/event/block.h"
#include "feed/event/limits.h"
#include "feed/lines/line_config.h"
#include "nic/capture/recording_chunk.h"
#include "nic/packet/address.h"
#include "nic/packet/packet.h"
#include "nic/packet/udp_frame_writer.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace pinstrike::actors {

/// The destination that a recorded repair block gets: the retransmission group that the venue
/// publishes for its line. A replay reads repair blocks from that group.
struct RepairRoute {
    /// Null: the venue publishes none, so such blocks are not recorded.
    std::optional<feed::LineConfig> (*published_line)(std::uint16_t number) = nullptr;
    nic::Ipv4 source;  ///< one that the ports allow
};

/// A chunk that is empty, or back from the disk.
struct alignas(8) FreeChunk {
    std::byte* bytes = nullptr;
};

/// A chunk with packets. Their blocks begin behind the space for the blocks of the recorder.
struct alignas(64) FilledChunk {
    std::byte* bytes = nullptr;
    std::uint32_t used_bytes = 0;
    std::uint32_t packets = 0;
    std::int64_t first_ts_ns = 0;           ///< receive time of its first packet
    std::uint64_t received = 0;             ///< packets received since the start, up to its first
    std::uint64_t filtered = 0;             ///< of received: the filter refused them
    std::uint64_t not_recorded = 0;         ///< of received: found no free chunk
    std::uint64_t not_recorded_before = 0;  ///< of not_recorded: since the chunk before
};

static_assert(sizeof(FilledChunk) == 64);

class PacketRecorder {
  public:
    /// A chunk goes to the disk after this time, also if it is not full.
    static constexpr std::int64_t oldest_ns = 1'000'000'000;

    /// `space`: for the addresses of all chunks.
    PacketRecorder(RecordFilter filter, Producer<FilledChunk> filled, Consumer<FreeChunk> free,
                   std::vector<std::byte*> space, const RepairRoute& repairs = {})
        : filter_(std::move(filter)),
          filled_(std::move(filled)),
          free_(std::move(free)),
          free_chunks_(std::move(space)),
          repairs_(repairs) {}

    /// Not inline, for the same reason as record().
    ~PacketRecorder();

    PacketRecorder(const PacketRecorder&) = delete;
    PacketRecorder& operator=(const PacketRecorder&) = delete;

    /// Records packets, unless the filter refuses them. `interfaces`: the numbers of their
    /// interfaces in the recording.
    void record(std::span<const nic::Packet> packets,
                std::span<const std::uint32_t> interfaces) noexcept;

    /// Records a block that recovery got from a peer as a packet to its retransmission group.
    /// `line`: its index within the poller. `block`: at most feed::kept_block_bytes_max.
    void record_repair(std::uint32_t line, std::uint16_t number, std::span<const std::byte> block,
                       std::int64_t ts_ns) noexcept;

    /// Whether any packet is wanted. Otherwise skip() counts them.
    [[nodiscard]] bool wants_any() const noexcept { return filter_.wants_any(); }

    void skip(std::size_t packets) noexcept { filtered_.add(packets); }

    /// Control thread. Only packets of the lines at these places are recorded from now on.
    void want(const LineSet& places) noexcept { filter_.want(places); }

    /// Hands the open chunk over if it is old. Housekeeping, with the time of the packets.
    void close_if_old(std::int64_t now_ns) noexcept;

    /// Hands the open chunk over. The recorder has as many free slots in its ring as there are
    /// chunks, so this never fails.
    void close() noexcept;

    // Any thread may read the counters.

    [[nodiscard]] const Counter& recorded() const noexcept { return recorded_; }

    [[nodiscard]] const Counter& not_recorded() const noexcept { return not_recorded_; }

    [[nodiscard]] const Counter& filtered() const noexcept { return filtered_; }

  private:
    /// Opens a chunk for a packet. False if there is none, or if the packet is too long for any.
    bool next_chunk(const nic::Packet& packet, std::size_t block_bytes) noexcept;

    std::byte* next_ = nullptr;  ///< where the next packet goes
    std::byte* end_ = nullptr;
    FilledChunk open_;
    std::uint64_t stated_ = 0;  ///< FilledChunk::not_recorded of the latest chunk
    Counter recorded_;
    Counter not_recorded_;
    Counter filtered_;
    RecordFilter filter_;
    Producer<FilledChunk> filled_;
    Consumer<FreeChunk> free_;
    std::vector<std::byte*> free_chunks_;  ///< taken from the ring, the latest last
    std::size_t free_count_ = 0;
    RepairRoute repairs_;
    std::array<std::byte, nic::udp_headers_bytes(0) + feed::kept_block_bytes_max> repair_frame_;
};

}  // namespace pinstrike::actors
