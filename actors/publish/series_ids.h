// path: cold
//
// Ids of series that are not on the day's list. They follow the ids of the list, in the order in
// which the series are first seen, and are kept in a file for the day, so that they are the same
// after a restart.
#pragma once

#include "feed/event/series_key.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>

namespace pinstrike::actors {

class SeriesIds {
  public:
    /// `listed`: the number of ids of the list. Reads the ids that an earlier start of the same
    /// trade date with the same list kept in `file`, or begins the file anew. Without a file (an
    /// empty path, or one that cannot be written) the ids last until the end of the process.
    SeriesIds(std::string file, std::uint32_t trade_date, std::uint32_t listed);
    ~SeriesIds();

    SeriesIds(const SeriesIds&) = delete;
    SeriesIds& operator=(const SeriesIds&) = delete;

    /// The id of a series, which is given now if it has none.
    std::uint32_t id_of(const feed::SeriesKey& key);

  private:
    struct Hash {
        std::size_t operator()(const feed::SeriesKey& key) const { return feed::hash(key); }
    };

    void read_kept();
    void begin_file(std::uint32_t trade_date);

    std::uint32_t listed_;
    std::unordered_map<feed::SeriesKey, std::uint32_t, Hash> ids_;
    int descriptor_ = -1;
};

}  // namespace pinstrike::actors
