// path: cold
//
// The bytes that wait to be sent to one client, in order, in chunks of a pool that all clients of
// a thread share. Records are appended at the end of the last chunk; the socket takes bytes from
// the first one. A queue without bytes holds no chunk.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <utility>
#include <vector>

struct ZSTD_CCtx_s;

namespace pinstrike::actors::gateway {

/// What is known of the bytes of a chunk.
struct ChunkState {
    std::size_t used = 0;
    std::size_t sent = 0;
    std::uint64_t records = 0;
    std::int64_t first_ns = 0;  ///< when its first record was appended; 0: it has none
    std::uint64_t offered = 0;  ///< records that OutputQueue::next() has returned
    std::int64_t event_ns =
        0;  ///< when the oldest event of the other records was received; 0: none
};

struct Chunk : ChunkState {
    static constexpr std::size_t capacity = std::size_t{128} << 10;
    std::array<std::byte, capacity> bytes;
};

/// Chunks that are not in use, a bounded number of them.
class ChunkPool {
  public:
    static constexpr std::size_t kept_max = 256;  // 32 MiB

    [[nodiscard]] std::unique_ptr<Chunk> get();
    void put_back(std::unique_ptr<Chunk> chunk);

  private:
    std::vector<std::unique_ptr<Chunk>> kept_;
};

/// Records that are written to the socket together.
struct Write {
    std::uint64_t records = 0;
    std::int64_t event_ns = 0;  ///< when the oldest event of them was received; 0: they have none
};

class OutputQueue {
  public:
    explicit OutputQueue(ChunkPool& pool);
    ~OutputQueue();

    OutputQueue(const OutputQueue&) = delete;
    OutputQueue& operator=(const OutputQueue&) = delete;

    /// Compresses everything that is appended from now on, as one zstd frame. Called before the
    /// first record. What waits already is sent as it is.
    void compress();

    /// Appends a trailer of 8 bytes, the time of sending, to each record from now on.
    void add_send_times() { has_send_times_ = true; }

    /// Appends bytes that are no record.
    void append(std::span<const std::byte> bytes);

    /// Appends a record whose first byte is its length in units of 4 bytes. `event_ns`: when the
    /// event was received that it is made of; 0: it is of none.
    void append_record(std::span<const std::byte> record, std::uint64_t now_ns,
                       std::int64_t event_ns = 0);

    /// The bytes to send next, until sent(); none: the queue is empty.
    [[nodiscard]] std::span<const std::byte> next();

    /// The records whose first bytes next() has returned since the last call.
    [[nodiscard]] Write take_offered() { return std::exchange(offered_, {}); }

    /// The first `count` of the bytes of next() were sent.
    void sent(std::size_t count);

    /// Bytes that were appended and not yet taken by the socket, before compression.
    [[nodiscard]] std::size_t bytes() const { return bytes_; }

    /// Records that were appended so far, and those of them that were sent completely.
    [[nodiscard]] std::uint64_t records_appended() const { return appended_; }

    [[nodiscard]] std::uint64_t records_sent() const { return sent_; }

    /// When the oldest chunk that waits got its first record; 0: none waits.
    [[nodiscard]] std::int64_t oldest_ns() const {
        return compressed_ns_ != 0 ? compressed_ns_
               : chunks_.empty()   ? 0
                                   : chunks_.front()->first_ns;
    }

    /// Bytes given to the socket so far.
    [[nodiscard]] std::uint64_t bytes_sent() const { return bytes_sent_; }

  private:
    struct FreeContext {
        void operator()(ZSTD_CCtx_s* context) const;
    };

    [[nodiscard]] std::span<std::byte> space(std::size_t count);
    void offer(Chunk& chunk);
    void fill_compressed();

    ChunkPool& pool_;
    std::deque<std::unique_ptr<Chunk>> chunks_;
    bool has_send_times_ = false;
    std::unique_ptr<ZSTD_CCtx_s, FreeContext> context_;  ///< null: not compressed
    std::size_t plain_ = 0;                              ///< first chunks, not to be compressed
    std::vector<std::byte> compressed_;                  ///< one chunk, compressed
    std::size_t compressed_sent_ = 0;
    std::uint64_t compressed_records_ = 0;
    std::int64_t compressed_ns_ = 0;
    Write offered_;
    std::size_t bytes_ = 0;
    std::uint64_t appended_ = 0;
    std::uint64_t sent_ = 0;
    std::uint64_t bytes_sent_ = 0;
};

}  // namespace pinstrike::actors::gateway
