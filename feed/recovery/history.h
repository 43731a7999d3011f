// path: cold
//
// The last seconds of every line, so that others who lost some of it can have it: blocks as their
// venue sent them, in the order of their arrival, bounded by age and by memory.
//
// All lines share one ring of records, oldest at its tail. Records are never moved or taken out of
// the middle: where the age or the room says so, the tail goes on. A record is found through its
// bucket: those that begin within the same 256 numbers of the same line are chained, newest first,
// and the chain ends where it leads behind the tail; so letting go costs nothing but moving the
// tail, and a range is found in as many steps as there are blocks about it.
//
// Numbers come again after a wrap and after a reset: a range is of the blocks that the exchange
// stamped within the bounds of the request (feed/recovery/repair.h).
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

/// A block of a line: numbers first .. first+messages-1, over the wrap.
struct KeptBlock {
    std::uint16_t line = 0;
    std::uint16_t messages = 0;
    std::uint32_t first = 0;  ///< never 0
    std::int64_t ts_exchange_ns = 0;
    std::int64_t ts_arrival_ns = 0;
    std::span<const std::byte> bytes;
};

/// What is kept of a line: from its oldest block to its newest, in order of arrival. Between them
/// may be holes.
struct KeptRange {
    std::uint32_t first = 0;  ///< of the oldest block
    std::uint32_t last = 0;   ///< of the newest block; smaller than `first` after a wrap or reset
    std::int64_t from_ts_ns = 0;
    std::int64_t to_ts_ns = 0;

    friend bool operator==(const KeptRange&, const KeptRange&) = default;
};

// clang-format off
#define PINSTRIKE_HISTORY_COUNTS(ROW) \
    ROW(kept, blocks, "blocks taken into the history") \
    ROW(kept_bytes, bytes, "bytes of the blocks taken into the history") \
    ROW(aged, blocks, "blocks let go because they had been kept for as long as configured") \
    ROW(crowded, blocks, "blocks let go before their time to make room for newer ones") \
    ROW(unfit, blocks, "blocks not taken: of another line, without numbers, or too large")
// clang-format on

PINSTRIKE_ROWS(HistoryCount, PINSTRIKE_HISTORY_COUNTS)

using HistoryCounters = Counters<HistoryCount, HistoryCount_count>;

/// Used by one thread; its counters may be read by any. Allocates at construction only (the memory
/// is touched as it is used). Times of arrival are passed in; one that goes back is taken as the
/// latest.
class History {
  public:
    static constexpr std::uint16_t block_messages_max = 256;
    static constexpr std::size_t block_bytes_max = 16 * 1024;

    History(std::span<const std::uint16_t> lines, const HistoryConfig& config);

    /// Copies a block in; false: it is unfit. Lets go of what is too old, or in its way.
    bool keep(const KeptBlock& block);

    /// Lets go of what is too old at this time.
    void expire(std::int64_t now_ns);

    [[nodiscard]] bool knows(std::uint16_t line) const;

    /// Whole blocks that hold any of the numbers asked for and are stamped within its bounds, in
    /// order of arrival, at most repair_messages_max. Valid until the next call.
    [[nodiscard]] std::span<const KeptBlock> find(const RepairRequest& request);

    /// Nothing: no block of the line is kept.
    [[nodiscard]] std::optional<KeptRange> kept(std::uint16_t line) const;

    [[nodiscard]] const HistoryCounters& counters() const { return counters_; }

    // What is kept now, of all lines.

    [[nodiscard]] std::uint64_t blocks() const { return blocks_.read(); }

    /// Memory in use, what records take beside their bytes included.
    [[nodiscard]] std::uint64_t used_bytes() const { return used_bytes_.read(); }

    /// Of the block that arrived first; 0: there is none.
    [[nodiscard]] std::int64_t oldest_ts_ns() const {
        return static_cast<std::int64_t>(oldest_ts_ns_.read());
    }

    /// All memory that a history of this config claims.
    [[nodiscard]] static std::size_t claimed_bytes(const HistoryConfig& config);

  private:
    /// Where a record stands, counted from the beginning of time: its place in the ring is the
    /// remainder. Never 0.
    using Place = std::uint64_t;

    /// What stands before the bytes of a block.
    struct Record {
        Place older_in_bucket = 0;
        Place younger_of_line = 0;
        std::int64_t ts_exchange_ns = 0;
        std::int64_t ts_arrival_ns = 0;
        std::uint32_t first = 0;
        std::uint16_t messages = 0;
        std::uint16_t bytes = 0;
        std::uint16_t line = 0;  ///< index; no_line: the rest of the ring, left out
        std::uint16_t units = 0;
    };

    struct Line {
        std::uint16_t number = 0;
        Place oldest = 0;  ///< 0: none is kept
        Place newest = 0;
    };

    static constexpr std::uint16_t no_line = 0xFFFF;

    [[nodiscard]] Record& at(Place place) const;
    [[nodiscard]] KeptBlock block_at(Place place) const;
    [[nodiscard]] const Line* line_of(std::uint16_t number) const;
    [[nodiscard]] std::size_t slot_of(std::size_t line, std::uint32_t bucket) const;
    void make_room(std::size_t bytes);
    void let_go_oldest(HistoryCount why);
    void append(std::size_t line, const KeptBlock& block, std::size_t units);
    void collect(std::size_t line, std::uint32_t bucket, const RepairRequest& request);
    void publish();

    HistoryConfig config_;
    std::vector<Line> lines_;  // by number
    std::unique_ptr<std::byte[]> memory_;
    std::size_t capacity_;        // of memory_, in bytes; a multiple of sizeof(Record)
    std::vector<Place> buckets_;  // the newest record of each; a power of two of them
    Place head_;                  // where the next record goes
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
