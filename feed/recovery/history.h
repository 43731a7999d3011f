// path: cold
//
// The last seconds of every line, kept for peers that lost messages of it: blocks as the venue sent
// them, in order of arrival, bounded by age and by memory.
//
// All lines share one ring of records, with the oldest at its tail. Records are removed only by
// advancing the tail, when the oldest is too old or its memory is needed. A bucket chains the
// records that begin within the same 256 numbers of a line, newest first; a link to a record
// before the tail ends the chain. Removal therefore never touches a chain, and a search visits only
// the records around the range.
//
// Numbers repeat after a wrap and after a reset, so a search also checks that the exchange stamped
// the block within the bounds of the request (feed/recovery/repair.h). If the venue's codec
// recognises new sessions, a search finds only blocks of the line's latest session, because block
// times may be unknown.
#pragma once

#include "config/counter.h"
#include "config/rows.h"
#include "feed/recovery/history_config.h"
#include "feed/recovery/repair.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace pinstrike::feed {

/// A block of a line: numbers first .. first+messages-1, which may span the wrap.
struct KeptBlock {
    std::uint16_t line = 0;
    std::uint16_t messages = 0;
    std::uint64_t first = 0;  ///< never 0
    std::int64_t ts_exchange_ns = 0;
    std::int64_t ts_arrival_ns = 0;
    std::span<const std::byte> bytes;
    std::uint8_t session = 0;  ///< Block::session
};

/// The range kept of a line, from its oldest to its newest block in order of arrival. It may have
/// holes.
struct KeptRange {
    std::uint64_t first = 0;  ///< of the oldest block
    std::uint64_t last = 0;   ///< of the newest block; smaller than `first` after a wrap or reset
    std::int64_t from_ts_ns = 0;
    std::int64_t to_ts_ns = 0;

    friend bool operator==(const KeptRange&, const KeptRange&) = default;
};

// clang-format off
#define PINSTRIKE_HISTORY_COUNTS(ROW) \
    ROW(kept, blocks, "blocks stored in the history") \
    ROW(kept_bytes, bytes, "bytes of the blocks stored in the history") \
    ROW(aged, blocks, "blocks removed because the configured time was over") \
    ROW(crowded, blocks, "blocks removed early to free memory for newer ones") \
    ROW(unfit, blocks, "blocks not stored: of another line, without numbers or bytes, or too large")
// clang-format on

PINSTRIKE_ROWS(HistoryCount, PINSTRIKE_HISTORY_COUNTS)

using HistoryCounters = Counters<HistoryCount, HistoryCount_count>;

/// One thread may use it; any thread may read the counters. Allocates at construction only (pages
/// are touched on first use). The caller passes in the times of arrival; a time before the latest
/// one counts as the latest.
class History {
  public:
    History(std::span<const std::uint16_t> lines, const HistoryConfig& config,
            const Numbering& numbering);

    /// Copies a block. Removes blocks that are too old, or whose memory it needs. False: the block
    /// is unfit (HistoryCount::unfit).
    bool keep(const KeptBlock& block);

    /// Removes the blocks that are too old at this time.
    void expire(std::int64_t now_ns);

    [[nodiscard]] bool knows(std::uint16_t line) const;

    /// The blocks that hold any of the requested numbers and are stamped within the request's
    /// bounds, in order of arrival, at most repair_messages_max. Valid until the next call.
    [[nodiscard]] std::span<const KeptBlock> find(const RepairRequest& request);

    /// The range kept of a line. Nothing: no block of the line is kept.
    [[nodiscard]] std::optional<KeptRange> kept(std::uint16_t line) const;

    [[nodiscard]] const HistoryCounters& counters() const { return counters_; }

    // The next three are about the blocks of all lines that are kept now.

    [[nodiscard]] std::uint64_t blocks() const { return blocks_.read(); }

    /// Memory in use, including the records' headers.
    [[nodiscard]] std::uint64_t used_bytes() const { return used_bytes_.read(); }

    /// Time of arrival of the oldest block; 0: there is none.
    [[nodiscard]] std::int64_t oldest_ts_ns() const {
        return static_cast<std::int64_t>(oldest_ts_ns_.read());
    }

    /// The memory that a history of this config allocates.
    [[nodiscard]] static std::size_t claimed_bytes(const HistoryConfig& config);

  private:
    /// A record's offset in bytes, counted without wrapping; modulo the capacity, it is the offset
    /// in memory_. Never 0.
    using Place = std::uint64_t;

    /// The header before the bytes of a block.
    struct Record {
        Place older_in_bucket = 0;
        Place younger_of_line = 0;
        std::int64_t ts_exchange_ns = 0;
        std::int64_t ts_arrival_ns = 0;
        std::uint64_t first = 0;
        std::uint16_t messages = 0;
        std::uint16_t bytes = 0;
        std::uint16_t line = 0;  ///< index; no_line: unused rest at the end of the ring
        std::uint16_t units = 0;
    };

    struct Line {
        std::uint16_t number = 0;
        Place oldest = 0;  ///< 0: none is kept
        Place newest = 0;
        Place session_begin = 0;  ///< earlier records are of an older session
        std::uint8_t session = 0;
    };

    static constexpr std::uint16_t no_line = 0xFFFF;

    [[nodiscard]] Record& at(Place place) const;
    [[nodiscard]] KeptBlock block_at(Place place) const;
    [[nodiscard]] const Line* line_of(std::uint16_t number) const;
    [[nodiscard]] std::size_t slot_of(std::size_t line, std::uint64_t bucket) const;
    void make_room(std::size_t bytes);
    void let_go_oldest(HistoryCount why);
    void append(std::size_t line, const KeptBlock& block, std::size_t units);
    void collect(std::size_t line, std::uint64_t bucket, const RepairRequest& request);
    void publish();

    [[nodiscard]] std::uint64_t advanced(std::uint64_t number, std::uint64_t by) const;

    HistoryConfig config_;
    Numbering numbering_;
    std::vector<Line> lines_;  // sorted by number
    std::unique_ptr<std::byte[]> memory_;
    std::size_t capacity_;        // of memory_, in bytes; a multiple of sizeof(Record)
    std::vector<Place> buckets_;  // newest record of each bucket; the size is a power of two
    Place head_;                  // place of the next record
    Place tail_;                  // the oldest record
    std::int64_t latest_ns_;
    std::uint64_t records_ = 0;
    std::vector<Place> found_places_;
    std::vector<KeptBlock> found_;
    HistoryCounters counters_;
    Counter blocks_;
    Counter used_bytes_;
    Counter oldest_ts_ns_;
};

}  // namespace pinstrike::feed
