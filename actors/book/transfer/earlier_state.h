// path: hot
//
// Merges the state that a series had before this start of the feed, as the recording has it, with
// what the messages since the start stated. The messages between are missing, so the result is the
// state of a book that got the earlier messages, then a gap, then the messages since.
#pragma once

#include "actors/book/book_entries.h"
#include "actors/book/transfer/line_places.h"
#include "actors/core/state_record.h"

namespace pinstrike::actors {

/// `record` is of kind earlier, `row` of its line. Each series is merged once. Unless
/// `record.forced`, it waits until the first message of a line that was heard is known.
[[nodiscard]] StateVerdict merge_earlier(BookEntries& entries, const LinePlace& row,
                                         const StateRecord& record);

}  // namespace pinstrike::actors
