// path: hot
//
// Applies messages to the entries of a book. A quote that comes in order, of a series on whose line
// nothing happened, has a shorter path (book.cpp).
#pragma once

#include "actors/book/book_entries.h"
#include "feed/event/event.h"

namespace pinstrike::actors {

/// Applies a message of any kind; the clock of the entries is at its stamp. A message that states
/// nothing of a series or a line changes nothing.
void apply_message(BookEntries& entries, const feed::Event& event);

}  // namespace pinstrike::actors
