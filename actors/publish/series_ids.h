// path: cold
//
// Ids of series. A series on the day's list has its position there, from 1. The ids of others
// follow those of the list, in the order in which the series are first seen, and are kept in a file
// for the day, so that they are the same after a restart.
#pragma once

#include "feed/event/series_key.h"
#include "nic/file_descriptor.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace pinstrike::actors {

class SeriesIds {
  public:
    /// `listed`: the list, sorted by feed::comes_before(). Reads the ids that an earlier start of
    /// the same trade date with a list of the same length kept in `file`, or begins the file anew.
    /// Without a file (an empty path, or one that cannot be written) the ids last until the end of
    /// the process.
    SeriesIds(std::string file, std::uint32_t trade_date, std::vector<feed::SeriesKey> listed);

    /// The id of a series, which is given now if it has none.
    std::uint32_t id_of(const feed::SeriesKey& key);

    /// Why the file does not keep the ids, as an `errno`; 0: it does, or there is no file. Any
    /// thread.
    [[nodiscard]] int error() const {
        return error_.load(std::memory_order_relaxed);  // relaxed: no data depends on it
    }

  private:
    struct Hash {
        std::size_t operator()(const feed::SeriesKey& key) const { return feed::hash(key); }
    };

    void read_kept();
    void begin_file(std::uint32_t trade_date);
    void give_up();

    [[nodiscard]] std::uint32_t listed_count() const {
        return static_cast<std::uint32_t>(listed_.size());
    }

    std::vector<feed::SeriesKey> listed_;
    std::unordered_map<feed::SeriesKey, std::uint32_t, Hash> ids_;
    nic::FileDescriptor file_;
    std::atomic<int> error_{0};
};

}  // namespace pinstrike::actors
