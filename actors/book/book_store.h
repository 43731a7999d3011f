// path: hot
//
// The memory of a book: the table of series, their trades, the directory and the lines. Other
// programs may read it (actors/publish).
#pragma once

#include "actors/book/book_config.h"
#include "actors/book/book_entry.h"
#include "actors/book/flat_table.h"
#include "actors/publish/core_memory.h"
#include "actors/publish/directory.h"
#include "actors/publish/line_memory.h"
#include "actors/publish/stream_writer.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace pinstrike::actors {

/// The number of series for which each of `cores_count` books has memory. `underlyings_whole`: all
/// series of an underlying have the same core.
[[nodiscard]] std::size_t series_share(const BookConfig& config, unsigned cores_count,
                                       bool underlyings_whole = false);

/// The shape of the memory of each of these books, without a stream.
[[nodiscard]] CoreShape book_shape(const BookConfig& config, unsigned cores_count,
                                   bool underlyings_whole = false);

struct BookStore {
    using Table = FlatTable<BookEntry>;

    /// `of` is zero and has the shape book_shape().
    explicit BookStore(CoreMemory of)
        : memory(std::move(of)),
          table(memory.core().series.count - 1, memory.span<BookEntry>(memory.core().entries),
                memory.span<pinstrike_group>(memory.core().groups)),
          directory(memory),
          trades(memory.span<TradeRecord>(memory.core().trades)),
          lines(memory.span<LineMemory>(memory.core().lines)),
          stream(memory) {}

    [[nodiscard]] TradeRecord& trades_at(const BookEntry& entry) const {
        return trades[entry.index()];
    }

    /// Begins a change of an entry other than by begin_quote().
    [[nodiscard]] Table::Writing writing(const BookEntry& entry) const {
        return Table::Writing{table.group_of(entry)};
    }

    CoreMemory memory;
    Table table;
    Directory directory;
    std::span<TradeRecord> trades;  ///< by BookEntry::index()
    std::span<LineMemory> lines;    ///< by line number; any 16 bits are a line number
    StreamWriter stream;
};

}  // namespace pinstrike::actors
