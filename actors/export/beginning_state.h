// path: cold
//
// The state of all series at the moment from which an export makes records. Until then a book gets
// the events of the replay, and takes the state of a snapshot as the book of a feed does. Then its
// series are read as a program on the host reads them, and it is not needed any more.
#pragma once

#include "actors/book/book.h"
#include "actors/book/book_config.h"
#include "actors/publish/reader/mapping.h"
#include "actors/publish/reader/series_reader.h"
#include "actors/publish/reader/shared_words.h"
#include "actors/publish/stamp.h"
#include "feed/event/series_key.h"

#include <functional>
#include <memory>
#include <span>

namespace pinstrike::actors {

class BeginningState {
  public:
    /// The book's memory is claimed here. Throws std::bad_alloc if there is too little.
    explicit BeginningState(const BookConfig& config);

    [[nodiscard]] Book& book() { return *book_; }

    /// Calls take(key, parts) for each series of which a message stated something, in the order of
    /// the table.
    void for_each_series(const std::function<void(const feed::SeriesKey& key,
                                                  const reader::SeriesParts& parts)>& take) const;

    /// The state of a series as users of published memory get it.
    void write_value(pinstrike_value& value, const feed::SeriesKey& key,
                     const reader::SeriesParts& parts) const;

    /// By line number.
    [[nodiscard]] std::span<const pinstrike_line> lines() const { return view_.lines; }

    /// Continues behind the last event that the book got.
    void start(StampClock& clock) const;

  private:
    [[nodiscard]] reader::Tail tail() const;

    reader::CoreView view_;  ///< of the book's memory
    std::unique_ptr<Book> book_;
};

}  // namespace pinstrike::actors
